// Rules, subjects with the most denials, and the promises of each mode.

import {clock, domainOf, number, percent, quotasOf, ruleId, safe} from './format.js';
import {renderFacts} from './band.js';
import {drawSpark, spark} from './chart.js';
import {button, byId, el, keyed, refill, setCells, setText, show} from './dom.js';

const MAX_ROWS = 100;

// A name that a client can choose: isolated from the direction of the text around it.
export const nameOf = (text, max) => el('bdi.mono', {title: safe(text, 1000)}, safe(text, max));
export const link = (text, onclick, max = 60) => button(nameOf(text, max), onclick, {}, '.link.clip');
export const setTags = (node, tags) => refill(node, String(tags), () => tags.filter((each) => each).map(([text, kind = 'plain']) => el(`span.tag.${kind}`, text)));

export const meter = () => el('div.with-meter', el('div.meter', el('i')), el('span.num'));
export function setMeter({firstChild: bar, lastChild: label}, fraction, text, level) {
  bar.firstChild.style.width = `${Math.max(0, Math.min(1, fraction || 0)) * 100}%`;
  bar.className = `meter ${level}`;
  setText(label, text);
}

function tagsOf({shadow, enforce_percent = 100, action}, overrides, isAborted) {
  return [shadow && ['shadow', 'warn'], overrides && [`overrides ${overrides}`, 'operator'], enforce_percent < 100 && [`enforce ${enforce_percent} %`, 'warn'],
    isAborted && ['roll-out aborted', 'bad'], action !== 'limit' && [action]];
}

function makeRule(rule, choose, act) {
  const id = ruleId(rule);
  const shadow = button('shadow…', () => act({kind: 'override', rule: id, subject: '', shadow: true, for: '15m'}), {title: 'to shadow for 15 minutes'}, '.link');
  return el('tr', el('td.name', {title: safe(`${rule.description ?? ''} ${rule.source?.file}:${rule.source?.line}`, 300)}, link(id, () => choose(id)), el('div')),
    el('td.num'), el('td', spark()), el('td.num'), el('td.num.wide'), el('td.mono.wide'), el('td.wide'), el('td.wide'), el('td.num', shadow));
}

export function renderRules({rules, overrides, state}, filter, {choose, act}) {
  const find = byId('rules-find').value.trim().toLowerCase();
  const order = (rule) => (rule.denied_per_s ?? 0) * 1e12 + (rule.shadow_denied_per_s ?? 0) * 1e6 + (rule.admitted_per_s ?? 0);
  const found = rules.filter((rule) => ruleId(rule).toLowerCase().includes(find)).sort((a, b) => order(b) - order(a));
  setText(byId('rules-note'), `${found.length > MAX_ROWS ? `${MAX_ROWS} of ` : ''}${number(found.length)}, by denials`);
  keyed(byId('rules-rows'), found.slice(0, MAX_ROWS), ruleId, (rule) => makeRule(rule, choose, act), (row, rule) => {
    const {denied_per_s, shadow_denied_per_s, mode = '', action} = rule;
    const isLimit = action === 'limit';
    const isChosen = ruleId(rule) === filter;
    row.className = isChosen ? 'chosen' : denied_per_s > 0 || shadow_denied_per_s > 0 ? '' : 'quiet';
    row.querySelector('button').setAttribute('aria-pressed', isChosen);
    setCells(row, [, number(rule.shadow ? shadow_denied_per_s : denied_per_s), , number(rule.subjects_denied), number(rule.admitted_per_s),
      quotasOf(rule), mode, isLimit && mode !== 'local' ? rule.on_failure : '']);
    row.cells[1].className = `num ${denied_per_s > 0 ? 'bad-text' : ''}`;
    drawSpark(row.cells[2].firstChild, rule.denied_recent ?? [], rule.shadow);
    const isOf = (each) => `${each.rule}/`.startsWith(`${ruleId(rule)}/`);
    setTags(row.cells[0].lastChild, tagsOf(rule, overrides.filter(isOf).length, state.rollouts?.some((each) => each.aborted && isOf(each))));
    show(row.cells[8].firstChild, isLimit && !rule.shadow);
  });
}

export function renderWho(entries, {now, subject, isKnown}, {open, choose}) {
  setText(byId('who-none'), entries.length ? '' : isKnown ? 'No client is denied.' : '…');
  keyed(byId('who-rows'), entries, (entry) => `${entry.rule}\n${entry.subject}`, (entry) => el('tr', {},
    el('td.name', link(entry.subject, () => open(domainOf(entry.rule), entry.subject), 80)), el('td.name', link(entry.rule, () => choose(entry.rule))),
    el('td.num'), el('td', meter()), el('td.num.wide')),
  (row, entry) => {
    row.className = subject && entry.subject === subject.subject && domainOf(entry.rule) === subject.domain ? 'chosen' : '';
    setCells(row, [, , number(entry.denied), , entry.first_denied_ms ? clock(entry.first_denied_ms, now) : '']);
    setMeter(row.cells[3].firstChild, entry.share, percent(entry.share), 'full');
  });
}

export function renderPromises({modes = [], leases = {}, reconciliation = {}, orphan_keys, evictions}) {
  keyed(byId('promise-rows'), modes, (each) => each.mode, () => el('tr', el('td'), el('td.num'), el('td.why'), el('td.num')), (row, each) =>
    setCells(row, [safe(each.mode), number(each.rules), safe(each.bound, 200), number(each.observed_excess)]));
  renderFacts('promise-facts', [['leases out', number(leases.out)], ['units leased', number(leases.units)], ['to reconcile', number(reconciliation.pending)],
    ['reconciled', number(reconciliation.reported)], ['lost', number(reconciliation.lost), reconciliation.lost > 0],
    ['orphan keys', number(orphan_keys), orphan_keys > 0], ['evictions', number(evictions), evictions > 0]]);
}
