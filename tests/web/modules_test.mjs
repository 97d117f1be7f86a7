// The modules of the page that do not touch the document.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {test} from 'node:test';

import {commandLine, describe, permanent, shellWord, subjectParts, undoOf} from '../../web/app/actions.js';
import {answers, deniedClients, differentNodes, mainClient} from '../../web/app/answers.js';
import {clock, duration, latency, number, percent, safe, shortDuration} from '../../web/app/format.js';
import {parseRequest, shellWords} from '../../web/app/request.js';
import {empty, merge, niceCeiling, recentRate, since} from '../../web/app/series.js';

test('durations are rounded up to two units', () => {
  assert.deepEqual([0, 1, 999, 1000, 1001, 250000, 7500000, 90000000].map(duration),
    ['0 s', '1 ms', '999 ms', '1 s', '2 s', '4 min 10 s', '2 h 5 min', '1 d 1 h']);
  assert.equal(duration(undefined), '–');
  assert.deepEqual([900000, 3600000, 86400000, 61000, 1500].map(shortDuration), ['15m', '1h', '1d', '61s', '1500ms']);
});

test('numbers stay short', () => {
  assert.deepEqual([0, 0.04, 0.3, 9.94, 38.2, 9999, 12345, 3400000, 5e9].map(number), ['0', '<0.1', '0.3', '9.9', '38', '9999', '12k', '3.4M', '5G']);
  assert.deepEqual([undefined, NaN].map(number), ['–', '–']);
  assert.deepEqual([0, 0.001, 0.5, 0.999, 1].map(percent), ['0 %', '<1 %', '50 %', '99 %', '100 %']);
  assert.deepEqual([310, 1240, 12345].map(latency), ['0.31 ms', '1.24 ms', '12.3 ms']);
});

test('times are in UTC, with the date on another day', () => {
  const at = Date.UTC(2026, 10, 17, 14, 3, 12);
  assert.equal(clock(at), '14:03:12');
  assert.equal(clock(at, at + 86400000), '2026-11-17 14:03:12');
});

test('characters that are invisible or reorder text are escaped, long texts are cut', () => {
  assert.equal(safe('a\nb\t\u0000\u202e<b>'), 'a\\nb\\t\\u0000\\u202e<b>');
  assert.equal(safe('\ud83d'), '\\ud83d');
  assert.equal(safe('🤖'), '🤖');
  assert.match(safe('x'.repeat(4096)), /^x+ … x+ \(4096 characters\)$/);
  assert.equal(safe(undefined), '');
});

test('a command line is one line that a shell reads as it was meant', () => {
  for (const text of ['user=42', "it's", 'a b', '$(id)', '`id`', '"', '\\', '!', '', 'a\nb', 'a\\\'b\tc', "\u202e'x", 'é<script>']) {
    const word = shellWord(text);
    assert.ok(!word.includes('\n'), word);
    assert.equal(execFileSync('bash', ['-c', `printf %s ${word}`], {encoding: 'utf8', env: {LC_ALL: 'C.UTF-8', PATH: process.env.PATH}}), text);
  }
});

test('actions have a sentence, a command line and an undo', () => {
  const block = {kind: 'block', subject: 'user=42', domain: 'api', for: '10m', reason: 'incident 12'};
  assert.equal(describe(block), 'Block user=42 in domain api for 10m');
  assert.equal(commandLine(block, 'http://h:9090'), "penstock block user=42 --domain api --for 10m --reason 'incident 12' --server http://h:9090");
  assert.deepEqual(undoOf(block), {kind: 'unblock', subject: 'user=42', rule: undefined, domain: 'api', reason: 'undo: incident 12'});
  const shadow = {kind: 'override', rule: 'api/search', subject: '', shadow: true, for: '15m', reason: 'x'};
  assert.equal(describe(shadow), 'Override rule api/search: shadow for 15m');
  assert.equal(commandLine(shadow, ''), 'penstock override set api/search --shadow --for 15m --reason x');
  assert.equal(undoOf(shadow).kind, 'remove');
  assert.equal(undoOf({kind: 'reset', subject: 'user=42', domain: 'api'}), undefined);
});

test('undo restores the override that was in force, for the rest of its time', () => {
  const before = {limit: '500/m', expires_at_ms: 100000};
  assert.deepEqual(undoOf({kind: 'override', rule: 'api/search', subject: 'user=42', multiply: '2', reason: 'x'}, before, 39500),
    {kind: 'override', subject: 'user=42', rule: 'api/search', limit: '500/m', multiply: undefined, shadow: undefined, for: '1m', reason: 'undo: x'});
  assert.equal(undoOf({kind: 'override', rule: 'api/search', subject: '', reason: 'x'}, before, 100001).kind, 'remove');
});

test('a permanent change is shown as YAML', () => {
  assert.equal(permanent({kind: 'block', subject: 'user=42&path=/x%26y', domain: 'api'}),
    'domains:\n  api:\n    deny:\n      - name: blocked-by-operator\n        when: {user: {equals: "42"}, path: {equals: "/x&y"}}');
  assert.match(permanent({kind: 'override', rule: 'api/search', subject: 'user=42', multiply: '2'}, '100/m burst 20'),
    /values: \{"42": 200\/m burst 40\}[^]*overrides: \{map: special-limits, by: user\}/);
  assert.match(permanent({kind: 'override', rule: 'api/search', subject: '', limit: '500/m'}), /name: search\n.*\n {8}limit: 500\/m$/);
  assert.match(permanent({kind: 'override', rule: 'api/search', subject: '', shadow: true}), /shadow: true$/);
  assert.equal(permanent({kind: 'reset', subject: 'user=42', domain: 'api'}), '');
  assert.equal(permanent({kind: 'block', subject: 'user=\u202e"}', domain: 'on'}), 'domains:\n  "on":\n    deny:\n      - name: blocked-by-operator\n        when: {user: {equals: "\\u202e\\"}"}}');
  assert.match(permanent({kind: 'block', subject: 'client_ip=10.0.0.0/8&user=🤖', domain: 'api'}), /when: \{client_ip: "10.0.0.0\/8", user: \{equals: "\\U0001f916"\}\}$/);
  assert.equal(subjectParts('(all)'), undefined);
});

test('requests are read from curl, HTTP, a URL and JSON', () => {
  assert.deepEqual(parseRequest(`curl -s -XPOST -H "X-Api-Key: a\\"b" \\\n -d '{}' 'https://u:p@h:8/v1/s?q=1#f'`),
    {attributes: {method: 'POST', host: 'h:8', path: '/v1/s', query: 'q=1', 'header.x-api-key': 'a"b'}});
  assert.deepEqual(parseRequest('GET /a?b HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1, 2.2.2.2\r\n\r\n').attributes,
    {method: 'GET', path: '/a', query: 'b', host: 'h', 'header.host': 'h', client_ip: '2.2.2.2', 'header.x-forwarded-for': '1.1.1.1, 2.2.2.2'});
  assert.deepEqual(parseRequest('https://h/x').attributes, {method: 'GET', host: 'h', path: '/x'});
  const check = {domain: 'api', attributes: {user: '7'}};
  assert.deepEqual(parseRequest(JSON.stringify(check)), check);
  assert.deepEqual(parseRequest(`curl -d '${JSON.stringify(check)}' localhost:8080/v1/check`), check);
  assert.deepEqual(parseRequest(`curl localhost:8080/v1/forward-auth -H 'X-Forwarded-Uri: /login'`).attributes.path, '/login');
  assert.equal(parseRequest('hello'), undefined);
  assert.deepEqual(shellWords(`a 'b c'"d" e\\ f`), ['a', 'b cd', 'e f']);
});

const part = (from, counts, marks = []) => ({step_ms: 1000, from_ms: from, now_ms: from + counts.length * 1000,
  admitted: counts, denied: counts, shadow_denied: counts, without_store: counts, marks});

test('history is appended, replaced where it overlaps, and bounded', () => {
  let series = merge(empty(), part(1000, [1, 2, 3]), 5000);
  series = merge(series, part(3000, [9, 4, 5, 6]), 5000);
  assert.deepEqual(series.admitted, [2, 9, 4, 5, 6]);
  assert.equal(series.from_ms, 2000);
  assert.equal(since(series), 1000);
  assert.equal(since(empty()), undefined);
  series = merge(series, part(60000, [7]), 5000);  // a gap: starts again
  assert.deepEqual([series.admitted, series.from_ms], [[7], 60000]);
  assert.deepEqual(merge(series, {...part(61000, []), now_ms: 61000}, 5000).admitted, [7]);
});

test('marks are kept once, in order, while they are shown', () => {
  const mark = (at_ms) => ({at_ms, kind: 'reload', text: 'x', node: 'a'});
  let series = merge(empty(), part(1000, [1, 1], [mark(2500), mark(1500)]), 5000);
  series = merge(series, part(3000, [1], [mark(2500)]), 5000);
  assert.deepEqual(series.marks.map(({at_ms}) => at_ms), [1500, 2500]);
  assert.deepEqual(merge(series, part(4000, [1, 1, 1]), 5000).marks.map(({at_ms}) => at_ms), [2500]);
});

test('rates leave out the newest step; axes end at round numbers', () => {
  assert.equal(recentRate(part(0, [0, 10, 20, 99]), 'denied'), 10);
  assert.deepEqual([0, 5, 6, 11, 170, 50001].map(niceCeiling), [5, 5, 6, 15, 200, 60000]);
});

const rule = (name, denied_per_s, more = {}) => ({domain: 'api', name, denied_per_s, admitted_per_s: 10, limits: [{quota: '10/s'}], ...more});
const top = (subject, share, name = 'search') => ({rule: `api/${name}`, subject, share, denied: 1, first_denied_ms: 1000});
const ask = (more) => Object.fromEntries(answers({state: {state: 'enforcing', store: {kind: 'memory'}}, rules: [], top: [], series: empty(), overrides: [], now: 61000, ...more})
  .map(({id, lines, ...rest}) => [id, {text: lines.join(' '), ...rest}]));

test('one client, a few clients and many clients are told apart', () => {
  const rules = [rule('search', 40, {subjects_denied: 812}), rule('login', 0)];
  assert.equal(ask({rules}).who.text, '40 denials/s; the clients are not known yet.');
  assert.equal(ask({rules, top: [top('user=42', 0.97), top('user=7', 0.03)]}).who.text, 'One client: user=42 has 97 % of 40 denials/s.');
  assert.equal(ask({rules, top: [top('user=42', 0.5), top('user=7', 0.4)]}).who.text, '2 clients: user=42 50 %, user=7 40 % of 40 denials/s.');
  const many = ask({rules, top: Array.from({length: 50}, (_, i) => top(`user=${i}`, 0.02))});
  assert.equal(many.who.text, 'Many clients: about 812, 40 denials/s. None has more than 2 %.');
  assert.equal(many.who.level, 'bad');
  assert.match(ask({rules, top: [top('(all)', 1)]}).who.text, /^All clients of api\/search/);
  assert.equal(ask({}).who.text, 'No client is denied.');
  assert.equal(deniedClients([top('user=1', 0.3), top('user=1', 0.4, 'login')])[0].share, 0.7);
});

test('the rule is named, with its limit, and since when', () => {
  const data = {rules: [rule('search', 40), rule('login', 1)], top: [top('user=42', 0.97)], client: {subject: 'user=42', sentence: 'next request passes in 21 s'}};
  assert.equal(ask(data).rule.text, 'api/search (10/s), since 00:00:01 (1 min); 1 other rule too. user=42: next request passes in 21 s.');
  assert.deepEqual(ask(data).act.actions.map(({label}) => label), ['Block user=42', 'Raise its limit', 'api/search to shadow for 15 min']);
  assert.equal(mainClient(data).subject, 'user=42');
  assert.equal(ask({...data, filter: 'api/login'}).rule.text.split(',')[0], 'api/login (10/s); 1 other rule too. user=42: next request passes in 21 s.');
});

test('an outage and a failed reload are named, and what to do about them', () => {
  const down = ask({state: {state: 'not_enforcing', reasons: ['Redis unreachable since 14:03:12'], store: {kind: 'redis', serving: false}}});
  assert.equal(down.enforced.text, 'No. Redis unreachable since 14:03:12');
  assert.match(down.act.text, /^Restore Redis/);
  const nodes = [{node: 'a', config_hash: '1'}, {node: 'b', config_hash: '2', reload_error: 'x.yaml:3: bad'}, {node: 'c', config_hash: '1'}];
  assert.deepEqual(differentNodes(nodes).map(({node}) => node), ['b']);
  const bad = ask({state: {state: 'degraded', reasons: [], nodes}});
  assert.match(bad.changed.text, /^b rejected its new configuration and keeps the old rules: x.yaml:3: bad b has another configuration/);
  assert.match(bad.act.text, /penstock validate/);
});
