// The page: what is chosen, what the daemon answered, and how both become panels.

import {CallError, get, perform} from './api.js';
import {answers, mainClient} from './answers.js';
import {describe, undoOf} from './actions.js';
import {renderAnswers, renderBand, renderVerdict} from './band.js';
import {renderChart} from './chart.js';
import {openAction, openHelp, openToken} from './dialog.js';
import {startExplain} from './explain.js';
import {clock, ruleId, safe} from './format.js';
import {renderLog, withActions} from './log.js';
import {Poller} from './poll.js';
import {empty, merge, since} from './series.js';
import {renderSubject} from './subject.js';
import {renderPromises, renderRules, renderWho} from './tables.js';
import {button, byId, el, refill, setText, show} from './dom.js';

const SPANS = {'5m': 300000, '1h': 3600000};
const chosen = {scope: 'fleet', span: '5m', by: 'denied', filter: ''};
const data = {series: empty(), rules: [], top: [], overrides: [], actions: [], promises: {}, subject: {}};
let turn = 0;
let isAsked = false;  // for a token

// A panel whose call is rejected keeps its data.
const optional = (promise, otherwise) => promise.catch((failure) => {
  if (failure.status === 0 || failure.status === 401) throw failure;
  return otherwise(failure);
});
const read = async (name, path, parameters, member) => {
  const answer = await optional(get(path, parameters), () => undefined);
  if (answer) data[name] = member ? answer[member] : answer;
};
const readSubject = async (name, {domain, subject}) => {
  data[name] = await optional(get('subject', {domain, subject}), ({message}) => ({subject, error: message}));
};

async function readHistory() {
  const {scope, span} = chosen;
  const answer = await get('history', {span, scope, since_ms: since(data.series)});
  if (span === chosen.span && scope === chosen.scope) data.series = merge(data.series, answer, SPANS[span]);
}

// State and history every second, the others less often.
function calls() {
  const {scope, filter: rule, by, subject} = chosen;
  const list = [get('state').then((answer) => { data.state = answer; }), readHistory()];
  if (turn % 2 === 0) list.push(read('rules', 'rules', {scope}, 'rules'));
  if (turn % 2 === 0 && subject) list.push(readSubject('subject', subject));
  if (turn % 2 || !data.who) {
    list.push(read('top', 'top', {by: 'denied', n: 100, scope}, 'entries'), read('who', 'top', {by, n: 100, rule, scope}, 'entries'));
    const client = mainClient(data);
    if (client) list.push(readSubject('client', client));
    else data.client = undefined;
  }
  if (turn % 5 === 0) list.push(read('promises', 'promises'));
  if (turn % 5 === 0 && data.state?.store.serving !== false) list.push(read('overrides', 'v1/overrides', {}, 'overrides'), read('actions', 'v1/actions', {n: 1000}, 'actions'));
  turn += 1;
  return list;
}

async function poll() {
  try {
    await Promise.all(calls());
    document.body.classList.remove('stale');
    render();
    return true;
  } catch (failure) {
    if (!(failure instanceof CallError)) throw failure;
    turn = 0;
    renderFailure(failure);
    return false;
  }
}

function renderFailure({message, status, needsToken}) {
  document.body.classList.add('stale');
  if (needsToken) {
    renderVerdict('TOKEN NEEDED', 'idle', [message]);
    if (!isAsked) openToken(restart, message);
    isAsked = true;
    return;
  }
  renderVerdict(status ? 'NO DATA' : 'CANNOT REACH THE DAEMON', 'idle',
    [`${location.host}: ${message}. Whether limits are enforced is not known here; what is shown is old. Trying again.`]);
}

function render() {
  const {state, rules, who, subject, promises} = data;
  if (!state) return;
  const now = state.now_ms;
  const {filter} = chosen;
  renderBand(state);
  setText(byId('live'), `${clock(now)} UTC`);
  data.shown = withActions(data.series, data.actions, now - SPANS[chosen.span]);
  renderAnswers(answers({...data, series: data.shown, filter, now}), act);
  drawChart();
  renderRules(data, filter, {choose, act});
  renderWho(who ?? [], {...chosen, now, isKnown: who}, {open: openSubject, choose});
  if (chosen.subject) renderSubject(chosen.subject, subject, now, act);
  renderLog({...data, now, filter}, undo);
  renderPromises(promises);
  const domains = [...new Set(rules.map((rule) => rule.domain))].sort();
  for (const select of [byId('subject-domain'), byId('explain-domain')]) {
    const {value} = select;
    refill(select, domains.join('\n'), () => domains.map((name) => el('option', {value: name}, safe(name))));
    if (domains.includes(value)) select.value = value;
  }
}

const drawChart = () => data.shown && renderChart(data.shown, SPANS[chosen.span]);

// A link shows the same choice to others.
function update() {
  const {filter: rule, subject} = chosen;
  const parts = Object.entries({rule, ...subject}).filter(([, value]) => value);
  history.replaceState(null, '', `#${new URLSearchParams(parts)}`);
  show(byId('filter'), rule);
  setText(byId('filter-name'), safe(rule));
  render();
  restart();
}

function choose(rule) {
  chosen.filter = chosen.filter === rule ? '' : rule;
  data.who = undefined;
  update();
}

function openSubject(domain, subject) {
  chosen.subject = {domain, subject};
  data.subject = {};
  byId('subject-text').value = subject;
  byId('subject-domain').value = domain;
  update();
  byId('subject').scrollIntoView({block: 'nearest'});
}

function act(action) {
  const {rule, subject} = action;
  const limits = [...(data.subject.limits ?? []), ...(data.client?.limits ?? [])];
  const rules = [...new Set(limits.filter((limit) => limit.subject === subject).map((limit) => limit.rule))];
  const quota = data.rules.find((each) => ruleId(each) === rule)?.limits?.[0]?.quota;
  const before = data.overrides.find((each) => each.rule === rule && each.subject === subject);
  openAction({...action, rules, quota}, (filled) => done(filled, undoOf(filled, before, data.state.now_ms)));
}

function notify(text, ...buttons) {
  byId('notice').replaceChildren(el('span', text), ...buttons, button('×', () => show(byId('notice'), false), {'aria-label': 'Dismiss'}));
  show(byId('notice'), true);
  byId('notice').querySelector('button').focus();
}

function done(action, undoAction) {
  notify(`Done: ${describe(action)}.`, ...(undoAction ? [button('Undo', () => undo(undoAction))] : []));
  restart();
}

async function undo(action) {
  try {
    await perform(action);
    done(action);
  } catch (failure) {
    if (failure.needsToken) openToken(() => undo(action), failure.message);
    else notify(`Not done: ${safe(failure.message, 300)}`);
  }
}

function restart() {
  turn = 0;
  poller.now();
}

const other = (name) => document.querySelector(`input[name=${name}]:not(:checked)`).click();

const SHORTCUTS = [
  ['?', 'this list', () => openHelp(SHORTCUTS)],
  ['/', 'look up a subject', () => byId('subject-text').focus()],
  ['b', 'block the subject shown, or the most denied one', () => {
    const subject = chosen.subject ?? mainClient(data);
    if (subject) act({kind: 'block', ...subject, rule: undefined, for: '10m'});
  }],
  ['u', 'undo: go to what is in force', () => byId('in-force').querySelector('button')?.focus()],
  ['r', 'find a rule', () => byId('rules-find').focus()],
  ['c', 'clear the rule filter', () => chosen.filter && choose(chosen.filter)],
  ['e', 'explain a request', () => byId('explain-paste').focus()],
  ['s', '5 minutes or 1 hour', () => other('span')],
  ['f', 'fleet or this node', () => other('scope')],
  ['t', 'token', () => openToken(restart)],
  ['↑ ↓', 'row of a table'],
];

function onKey(event) {
  const {key, target} = event;
  if (event.ctrlKey || event.metaKey || event.altKey || byId('dialog').open) return;
  if (target.matches('input:not([type=radio]), textarea, select')) {
    if (key === 'Escape') target.blur();
    return;
  }
  const row = target.closest('tbody tr, .list li');
  const neighbour = {ArrowUp: row?.previousElementSibling, ArrowDown: row?.nextElementSibling}[key]?.querySelector('button');
  const shortcut = neighbour ? () => neighbour.focus() : SHORTCUTS.find(([name]) => name === key)?.[2];
  if (!shortcut) return;
  event.preventDefault();
  shortcut();
}

function start() {
  startExplain();
  document.addEventListener('change', ({target}) => {
    if (target.type !== 'radio') return;
    chosen[target.name] = target.value;
    data.who = undefined;
    if (target.name !== 'by') data.series = empty();
    restart();
  });
  const onClick = (id, use) => byId(id).addEventListener('click', use);
  onClick('filter-clear', () => choose(chosen.filter));
  onClick('token', () => openToken(restart));
  onClick('help', () => openHelp(SHORTCUTS));
  byId('rules-find').addEventListener('input', render);
  byId('subject-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (byId('subject-text').value) openSubject(byId('subject-domain').value, byId('subject-text').value);
  });
  document.addEventListener('keydown', onKey);
  new ResizeObserver(drawChart).observe(byId('chart'));
  const link = new URLSearchParams(location.hash.slice(1));
  if (link.get('rule')) choose(link.get('rule'));
  if (link.get('subject')) openSubject(link.get('domain'), link.get('subject'));
  poller.now();
}

const poller = new Poller(poll);
start();
