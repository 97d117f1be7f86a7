// Which rules apply to a request, and why.

import {explain} from './api.js';
import {duration, number, safe} from './format.js';
import {parseRequest} from './request.js';
import {nameOf} from './tables.js';
import {button, byId, el} from './dom.js';

const left = ({remaining, limit} = {}) => (remaining === undefined ? '' : `${number(remaining)} of ${number(limit)} left`);

function sentenceOf({decision, domain_known}) {
  if (!domain_known) return 'No rules are loaded for this domain.';
  const {allowed, rule, reason, outcome, retry_after_ms} = decision;
  const why = /limit/.test(reason) ? left(decision) : reason.replaceAll('_', ' ');
  return `Would be ${allowed ? 'admitted' : 'denied'}${rule && !allowed ? ` by ${safe(rule)}` : ''}${why && `: ${why}`}${/blocked|never/.test(outcome) ? `, ${outcome.replace('_', ' ')}` : ''}` +
    `${retry_after_ms > 0 ? `, passes in ${duration(retry_after_ms)}` : ''}.`;
}

function resultOf(answer) {
  const {limits} = answer.decision;
  const rows = [...answer.rules].sort((a, b) => b.matched - a.matched).slice(0, 200).map(({rule, matched, reason, shadow, source}) =>
    el(matched ? 'tr' : 'tr.quiet', el('td', matched ? '✓' : '–'), el('td.name', nameOf(rule), shadow && el('span.tag.warn', 'shadow')), el('td.why', safe(reason, 300)),
      el('td.num', left(limits.find((limit) => limit.rule === rule))), el('td.muted.mono.wide', safe(`${source.file.split('/').pop()}:${source.line}`))));
  return [el('p.sentence', sentenceOf(answer)), el('div.scroll', el('table', el('tbody', rows)))];
}

function attributeRow(name = '', value = '') {
  const input = (text, label) => el('input.mono', {value: text, 'aria-label': label, spellcheck: 'false', autocomplete: 'off'});
  const row = el('div.attribute', input(name, 'Name of an attribute'), input(value, 'Its value'), button('×', () => row.remove(), {'aria-label': 'Remove'}));
  return row;
}

const setAttributes = (attributes) => byId('explain-attributes').replaceChildren(...Object.entries(attributes).map((each) => attributeRow(...each)));

function readAttributes() {
  const rows = [...byId('explain-attributes').children].map((row) => [row.children[0].value.trim(), row.children[1].value]);
  return Object.fromEntries(rows.filter(([name, value]) => name && value));
}

async function submit(event) {
  event.preventDefault();
  const found = byId('explain-found');
  try {
    found.replaceChildren(...resultOf(await explain({domain: byId('explain-domain').value, attributes: readAttributes()})));
  } catch (failure) {
    found.replaceChildren(el('p.problem', safe(failure.message, 400)));
  }
}

function paste() {
  const request = parseRequest(byId('explain-paste').value);
  if (!request) return;
  setAttributes(request.attributes);
  const domain = byId('explain-domain');
  if ([...domain.options].some(({value}) => value === request.domain)) domain.value = request.domain;
}

export function startExplain() {
  setAttributes({method: '', path: '', client_ip: ''});
  byId('explain-form').addEventListener('submit', submit);
  byId('explain-paste').addEventListener('input', paste);
  byId('explain-add').addEventListener('click', () => {
    const row = attributeRow();
    byId('explain-attributes').append(row);
    row.firstChild.focus();
  });
}
