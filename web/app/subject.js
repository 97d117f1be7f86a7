// One subject: every limit that applies to it, its denials, and what can be done.

import {clock, duration, number, plural, safe} from './format.js';
import {meter, nameOf, setMeter, setTags} from './tables.js';
import {WHOLE_RULE, effectOf} from './actions.js';
import {button, byId, el, keyed, refill, setCells, setText, show} from './dom.js';

function makeLimit({rule, subject, name}, act) {
  const override = () => act({kind: 'override', rule, subject: subject === WHOLE_RULE ? '' : subject, multiply: '2', for: '1h'});
  return el('tr', el('td.name', nameOf(name ? `${rule}/${name}` : rule), el('div')), el('td.mono.wide'), el('td', meter()), el('td.num'),
    el('td.num', button('override…', override, {}, '.link')));
}

function updateLimit(row, {quota, limit, remaining, used = limit - remaining, retry_after_ms, reset_after_ms, near_limit, shadow, override}) {
  const {cells} = row;
  setTags(cells[0].lastChild, [shadow && ['shadow', 'warn'], override && [effectOf(override), 'operator']]);
  setCells(row, [, safe(quota), ,
    retry_after_ms > 0 ? `passes in ${duration(retry_after_ms)}` : reset_after_ms > 0 ? `resets in ${duration(reset_after_ms)}` : '']);
  setMeter(cells[2].firstChild, used / limit, `${number(used)} of ${number(limit)}`, retry_after_ms > 0 || remaining <= 0 ? 'full' : near_limit || used >= 0.8 * limit ? 'near' : '');
}

function build({domain, subject}, act) {
  const action = (label, kind, more = {}) => button(label, () => act({kind, subject, domain, ...more}));
  return [el('p.sentence', {'aria-live': 'polite'}), el('div.scroll', el('table', el('tbody'))), el('div.line', action('Block…', 'block', {for: '10m'}), action('Unblock…', 'unblock'), action('Reset usage…', 'reset')), el('h3', 'Recent denials'), el('ul.list')];
}

export function renderSubject(chosen, {error, sentence = '…', limits = [], recent_denials = []}, now, act) {
  const parent = byId('subject-found');
  refill(parent, `${chosen.domain}\n${chosen.subject}`, () => build(chosen, act));
  const [text, table, , title, denials] = parent.children;
  setText(text, safe(error ?? sentence, 400));
  show(table, limits.length);
  keyed(table.querySelector('tbody'), limits, (each) => `${each.rule} ${each.name}`, (each) => makeLimit(each, act), updateLimit);
  show(title, recent_denials.length);
  keyed(denials, recent_denials, (each) => each.rule, () => el('li'), (row, each) =>
    setText(row, `${safe(each.rule)}: ${plural(each.count, 'denial')}, ${clock(each.first_ms, now)} to ${clock(each.last_ms, now)}`));
}
