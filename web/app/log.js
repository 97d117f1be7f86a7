// Overrides and blocks in force, each with its undo, and the log of operator actions.

import {clock, domainOf, duration, safe} from './format.js';
import {effectOf, targetOf} from './actions.js';
import {button, byId, el, keyed, setText, show} from './dom.js';

const idOf = ({rule, domain, subject}) => `${rule || domain} ${subject}`;

// Blocks of the log, which is newest first, that have not ended.
export function blocksInForce(actions, now) {
  const isBlock = ({action}) => action === 'block' || action === 'unblock';
  const latest = new Map(actions.filter(isBlock).reverse().map((each) => [idOf(each), each]));
  return [...latest.values()].filter((each) => each.action === 'block' && each.expires_at_ms > now);
}

// With the actions of operators as marks; /history may have those of this node.
export function withActions(series, actions, from) {
  const added = actions.filter(({at_ms}) => at_ms > from).map((each) => ({at_ms: each.at_ms, kind: each.action.startsWith('override') ? 'override' : 'action',
    text: `${each.by} ${each.action.replace('_', ' ')} ${targetOf(each)}${each.reason && ` – ${each.reason}`}`}));
  const marks = [...series.marks.filter(({kind}) => kind !== 'override' && kind !== 'action'), ...added].sort((a, b) => a.at_ms - b.at_ms);
  return {...series, marks};
}

function inForce(overrides, actions, now) {
  return [
    ...overrides.map((each) => ({...each, word: effectOf(each), undo: {kind: 'remove', rule: each.rule, subject: each.subject ?? ''}})),
    ...blocksInForce(actions, now).map(({rule = '', domain = '', ...each}) => ({...each, rule, domain, word: 'blocked',
      undo: {kind: 'unblock', subject: each.subject, rule, domain: domain || domainOf(rule)}}))];
}

export function renderLog({overrides, actions, now, filter}, perform) {
  const isShown = ({rule, domain}) => !filter || rule === filter || (!rule && domain === domainOf(filter));
  const current = inForce(overrides, actions, now).filter(isShown);
  show(byId('in-force-none'), !current.length);
  keyed(byId('in-force'), current, (each) => `${each.word} ${idOf(each)} ${each.expires_at_ms}`, (each) => el('li', {},
    el('div.line', el('span', targetOf(each)), el('b', each.word), el('span.muted'), el('span.grow'), button('Undo', () => perform({...each.undo, reason: 'undo'}))),
    el('div.muted', `${safe(each.by)}: ${safe(each.reason || 'no reason', 300)}`)),
  (row, each) => setText(row.querySelector('.muted'), `${duration(each.expires_at_ms - now)} left`));
  const past = actions.filter(isShown).slice(0, 100);
  show(byId('actions-none'), !past.length);
  keyed(byId('actions'), past, (each) => `${each.at_ms} ${each.action} ${idOf(each)}`, (each) => el('li', el('span.mono', clock(each.at_ms, now)), ' ',
    el('b', safe(each.by)), ` ${safe(each.action).replace('_', ' ')}: ${targetOf(each)}`, each.detail ? `: ${safe(each.detail, 200)}` : '',
    each.reason ? el('span.muted', ` – ${safe(each.reason, 300)}`) : ''));
}
