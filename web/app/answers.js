// The five questions of an incident, answered in words from the data of the page. Pure.
//
// An answer is {id, question, level: ok | warn | bad | idle, lines: [text], actions: [{label, action}]}.

import {ago, clock, domainOf, duration, inLine, latency, number, percent, plural, quotasOf, ruleId, safe} from './format.js';
import {WHOLE_RULE} from './actions.js';

const MOST = 0.8;  // this share of all denials makes "one client"
const FEW = 3;
const NORMAL = 0.01;  // fewer denials than this share of requests are no alarm

export const LEVELS = {enforcing: 'ok', degraded: 'warn', not_enforcing: 'bad'};

function enforced({state: {state, reasons = [], store = {}, nodes = []}}) {
  const level = LEVELS[state] ?? 'idle';
  if (level !== 'ok') return {level, lines: [{warn: 'Partly.', bad: 'No.'}[level] ?? 'Unknown.', ...reasons.map((text) => inLine(text, 400))]};
  const fleet = nodes.length > 1 ? `; ${nodes.length} nodes with the same configuration` : '';
  return {level, lines: [store.kind === 'redis' ? `Yes. Redis answers, p99 ${latency(store.latency_p99_us)}${fleet}.` : `Yes. Usage is in memory${fleet}.`]};
}

// Denied subjects, the shares of their rules added up, largest first.
export function deniedClients(top) {
  const clients = new Map();
  for (const {rule, subject, denied, share = 0} of top) {
    if (!(denied > 0)) continue;
    const domain = domainOf(rule);
    const client = clients.get(`${domain} ${subject}`) ?? {domain, subject, rule, share: 0};  // entries are sorted: its first rule denies most
    client.share = Math.min(1, client.share + share);
    clients.set(`${domain} ${subject}`, client);
  }
  return [...clients.values()].sort((a, b) => b.share - a.share);
}

const sum = (rules, member) => rules.reduce((total, rule) => total + (rule[member] ?? 0), 0);

// The client with most of all denials; undefined if there are several.
export function mainClient({rules, top}) {
  const [first] = deniedClients(top);
  return sum(rules, 'denied_per_s') > 0 && first?.share >= MOST && first.subject !== WHOLE_RULE ? first : undefined;
}

function who({rules, top}) {
  const rate = sum(rules, 'denied_per_s');
  if (!(rate > 0)) return {level: 'ok', lines: ['No client is denied.']};
  const clients = deniedClients(top);
  const [first] = clients;
  const all = `${number(rate)} denials/s`;
  const level = rate < NORMAL * sum(rules, 'admitted_per_s') ? 'idle' : 'warn';
  if (!first) return {level, lines: [`${all}; the clients are not known yet.`]};
  if (first.subject === WHOLE_RULE && first.share >= MOST) return {level, lines: [`All clients of ${safe(first.rule)}: they share its limit (${all}).`]};
  if (first.share >= MOST) return {level, lines: [`One client: ${safe(first.subject)} has ${percent(first.share)} of ${all}.`]};
  const few = clients.slice(0, FEW);
  if (clients.length <= FEW || sum(few, 'share') >= MOST) {
    return {level, lines: [`${plural(few.length, 'client')}: ${few.map((each) => `${safe(each.subject)} ${percent(each.share)}`).join(', ')} of ${all}.`]};
  }
  const subjects = Math.max(clients.length, ...rules.map((rule) => rule.subjects_denied ?? 0));
  return {level: level === 'warn' ? 'bad' : level, lines: [`Many clients: about ${number(subjects)}, ${all}. None has more than ${percent(first.share)}.`]};
}

// The rule with most denials.
const mainRule = ({rules, filter}) => rules.filter((rule) => rule.denied_per_s > 0 && (!filter || ruleId(rule) === filter))
  .sort((a, b) => b.denied_per_s - a.denied_per_s)[0];

function which(data) {
  const {rules, top, client, now} = data;
  const rule = mainRule(data);
  if (!rule) return {level: 'ok', lines: ['No rule denies.']};
  const id = ruleId(rule);
  const starts = top.filter((entry) => entry.rule === id && entry.first_denied_ms && entry.share > 0.005).map((entry) => entry.first_denied_ms);
  const others = rules.filter((each) => each !== rule && each.denied_per_s > 0).length;
  const lines = [`${safe(id)} (${quotasOf(rule)})` +
    `${starts.length ? `, since ${clock(Math.min(...starts), now)} (${duration(now - Math.min(...starts))})` : ''}${others ? `; ${plural(others, 'other rule')} too` : ''}.`];
  if (client?.sentence) lines.push(`${safe(client.subject)}: ${safe(client.sentence, 300)}.`);
  return {level: who(data).level, lines};
}

export const markLine = ({at_ms, kind, text, node}, now) =>
  `${clock(at_ms, now)} ${safe(kind).replace('_', ' ')}: ${inLine(text, 240)}${node ? ` (${safe(node)})` : ''}`;

// Nodes that differ from most nodes in `member`, or from the newest.
export function differentNodes(nodes = [], member = 'config_hash') {
  const groups = new Map();
  for (const node of nodes) groups.set(node[member], [...(groups.get(node[member]) ?? []), node]);
  const newest = (group) => Math.max(...group.map((node) => node.loaded_at_ms ?? 0));
  const [usual] = [...groups.values()].sort((a, b) => b.length - a.length || newest(b) - newest(a));
  return nodes.filter((node) => !usual.includes(node));
}

function changed({state: {state, nodes = []}, series, now}) {
  const lines = [
    ...nodes.filter((node) => node.reload_error).map((node) => `${safe(node.node)} rejected its new configuration and keeps the old rules: ${inLine(node.reload_error, 240)}`),
    ...differentNodes(nodes).map((node) => `${safe(node.node)} has another configuration (${safe(node.config_hash)}), loaded ${clock(node.loaded_at_ms, now)}.`),
    ...series.marks.slice(-4).reverse().map((mark) => `${markLine(mark, now)}, ${ago(now - mark.at_ms)}`)];
  if (!lines.length) return {level: 'ok', lines: ['No reload, outage, override or action in the time shown.']};
  return {level: state === 'enforcing' ? 'idle' : 'warn', lines};
}

function whatToDo(data) {
  const {state: {state, store = {}, nodes = []}, overrides, now} = data;
  const actions = [];
  const lines = [];
  const client = mainClient(data);
  const rule = mainRule(data);
  if (client) {
    const {subject, domain} = client;
    actions.push({label: `Block ${safe(subject, 40)}`, action: {kind: 'block', subject, domain, for: '10m'}},
      {label: 'Raise its limit', action: {kind: 'override', rule: client.rule, subject, multiply: '2', for: '1h'}});
  }
  if (rule && !rule.shadow) {
    actions.push({label: `${safe(ruleId(rule), 40)} to shadow for 15 min`, action: {kind: 'override', rule: ruleId(rule), subject: '', shadow: true, for: '15m'}});
  }
  if (store.serving === false) lines.push('Restore Redis. Until then on_failure decides: open admits, closed denies, local enforces each node’s share.');
  if (nodes.some((node) => node.reload_error)) lines.push('Fix the file on that node: it is loaded when it changes. penstock validate checks it.');
  if (overrides.length) lines.push(`${plural(overrides.length, 'override')} in force; the next ends in ${duration(Math.min(...overrides.map((each) => each.expires_at_ms)) - now)}. Undo: below.`);
  if (!lines.length && !actions.length) lines.push('Nothing.');
  return {level: state !== 'enforcing' ? 'warn' : actions.length ? 'idle' : 'ok', lines, actions};
}

// data: {state, rules, top, series, overrides, client: /subject of mainClient, filter, now}
export const answers = (data) => [
  ['enforced', 'Are limits enforced?', enforced],
  ['who', 'Who is denied?', who],
  ['rule', 'By which rule, since and until when?', which],
  ['changed', 'What changed?', changed],
  ['act', 'What can I do, and how do I undo it?', whatToDo],
].map(([id, question, answer]) => ({id, question, actions: [], ...answer(data)}));
