// The state band, the nodes of the fleet, and the answers to the five questions.

import {ago, clock, inLine, latency, number, safe} from './format.js';
import {LEVELS, differentNodes} from './answers.js';
import {button, byId, el, keyed, refill, setText, show} from './dom.js';

const WORDS = {enforcing: 'ENFORCING', degraded: 'DEGRADED', not_enforcing: 'NOT ENFORCING'};
const SIGNS = {ok: '✓', warn: '!', bad: '✕', idle: '·'};

// list: [name, value, is it bad]
export const renderFacts = (id, list) => refill(byId(id), String(list), () =>
  list.map(([name, value, isBad]) => el(isBad ? 'div.bad' : 'div', el('dt', name), el('dd', value))));

export function renderVerdict(word, level, reasons) {
  byId('band').className = `band ${level}`;
  setText(byId('state'), word);
  const lines = reasons.map((text) => inLine(text, 600));
  refill(byId('reasons'), lines.join('\n'), () => lines.map((text) => el('li', text)));
  document.title = level === 'ok' ? 'Penstock' : `${word} – Penstock`;
}

export function renderBand({state, reasons = [], store = {}, node, version, nodes = [], now_ms}) {
  const level = LEVELS[state] ?? 'idle';
  renderVerdict(WORDS[state] ?? 'UNKNOWN', level, reasons.length || level !== 'ok' ? reasons : ['All limits are enforced.']);
  renderFacts('store', store.kind !== 'redis' ? [['store', 'memory of this process']] : [
    ['store', store.serving ? 'Redis' : 'Redis, down', !store.serving], ['p50', latency(store.latency_p50_us)], ['p99', latency(store.latency_p99_us)],
    ['breaker', safe(store.breaker).replace('_', ' '), store.breaker !== 'closed']]);
  setText(byId('where'), `${safe(node)} · ${safe(version)}`);
  renderNodes(nodes, now_ms);
}

const COLUMNS = ['node', 'state', 'version', 'configuration', 'loaded', 'admitted/s', 'denied/s', 'seen'];
const FIRST_NUMBER = 5;

function cellsOf(node, otherHash, otherVersion, now) {
  const isOld = node.seen_ms_ago > 5e3;
  const level = isOld ? 'warn' : LEVELS[node.state];
  return [[safe(node.node) + (node.is_this ? ' (this)' : ''), 'mono'],
    [isOld ? 'no report' : (WORDS[node.state] ?? '–').toLowerCase(), level === 'ok' ? '' : `${level}-text`],
    [safe(node.version, 20), otherVersion ? 'different' : ''],
    [safe(node.config_hash) + (otherHash ? ' ≠' : ''), otherHash ? 'mono different' : 'mono'],
    [clock(node.loaded_at_ms, now) + (node.reload_error ? `; then failed: ${inLine(node.reload_error, 300)}` : ''), node.reload_error ? 'bad-text why' : ''],
    [number(node.admitted_per_s)], [number(node.denied_per_s)], [node.is_this ? 'now' : ago(node.seen_ms_ago ?? 0)]];
}

function renderNodes(nodes, now) {
  const box = byId('nodes');
  show(box, nodes.length > 0);
  const th = (name, i) => el(i < FIRST_NUMBER ? 'th' : 'th.num', name);
  if (!box.firstChild) box.append(el('table', el('thead', el('tr', COLUMNS.map(th))), el('tbody')));
  const hashes = differentNodes(nodes);
  const versions = differentNodes(nodes, 'version');
  const isFine = (node) => !node.reload_error && !hashes.includes(node) && LEVELS[node.state] === 'ok';
  const sorted = [...nodes].sort((a, b) => isFine(a) - isFine(b) || (a.node < b.node ? -1 : 1));
  keyed(box.querySelector('tbody'), sorted, (node) => node.node, () => el('tr', COLUMNS.map(() => el('td'))), (row, node) =>
    cellsOf(node, hashes.includes(node), versions.includes(node), now).forEach(([text, classes = 'num'], i) => {
      setText(row.cells[i], text);
      row.cells[i].className = classes;
    }));
}

export function renderAnswers(list, act) {
  keyed(byId('answer-list'), list, ({id}) => id, ({id, question}) => el('div', el('dt', el('span.sign'), question), el('dd', {id: `answer-${id}`}, el('div'), el('div.actions'))),
    (row, {level, lines, actions}) => {
      row.className = level;
      setText(row.querySelector('.sign'), SIGNS[level]);
      refill(row.lastChild.firstChild, lines.join('\n'), () => lines.map((line) => el('p', line)));
      refill(row.lastChild.lastChild, JSON.stringify(actions), () => actions.map(({label, action}) => button(label, () => act(action))));
    });
}
