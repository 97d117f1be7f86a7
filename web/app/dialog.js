// Dialogs: an action with its reason, duration and command line; the token; the shortcuts.

import {perform, token} from './api.js';
import {commandLine, describe, permanent, undoOf} from './actions.js';
import {domainOf, safe} from './format.js';
import {button, byId, el, show} from './dom.js';

const VERBS = {block: 'Block', unblock: 'Unblock', reset: 'Reset', override: 'Override', remove: 'Remove'};

function open(...children) {
  const dialog = byId('dialog');
  dialog.replaceChildren(...children);
  if (!dialog.open) dialog.showModal();
  dialog.querySelector('[autofocus]').focus();
}
const close = () => byId('dialog').close();

function codeBox() {
  const text = el('code');
  const copy = button('copy', async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      copy.textContent = 'copied';
    } catch {  // not a secure context
      getSelection().selectAllChildren(text);
      copy.textContent = 'Ctrl-C';
    }
  });
  return {box: el('div.code', text, copy), text};
}

const title = (text = '') => el('h2', {id: 'dialog-title'}, text);
const field = (label, input) => el('div.field', el('label', {for: input.id}, label), input);
const input = (id, value = '', attributes = {}) => el('input', {id, value, autocomplete: 'off', spellcheck: 'false', maxlength: 200, ...attributes});

// The inputs of an action; `read` returns the action as it is filled in.
function formOf({rules, quota, ...action}) {
  const {kind, shadow, multiply} = action;
  const domain = action.domain || domainOf(action.rule);
  const isOverride = kind === 'override' && !shadow;
  const reason = input('act-reason', action.reason, {autofocus: '', placeholder: 'incident 12'});
  const limit = input('act-limit', action.limit ?? (multiply && `× ${multiply}`), {placeholder: '500/m, or × 2'});
  const time = input('act-for', action.for);
  const scope = el('select', {id: 'act-scope'}, el('option', {value: ''}, `all rules of ${safe(domain)} with this key`),
    rules.map((rule) => el('option', {value: rule}, `only ${safe(rule)}`)));
  const isScoped = kind !== 'override' && kind !== 'remove';
  const read = () => {
    const factor = /^[×x*]\s*(.*)$/.exec(limit.value.trim())?.[1];
    return {...action, reason: reason.value.trim(), ...(action.for && {for: time.value.trim()}),
      ...(isOverride && {multiply: factor, limit: factor === undefined ? limit.value.trim() : undefined}),
      ...(isScoped && {domain: scope.value ? undefined : domain, rule: scope.value || undefined})};
  };
  return {read, fields: [field('Reason', reason), isScoped && field('Where', scope), isOverride && field('Limit', limit),
    action.for && field('For', time)]};
}

function undoText(action) {
  const undo = undoOf(action);
  return undo ? `${describe(undo)}: one click, afterwards or under In force. Ends by itself after ${safe(action.for)}.` : 'None.';
}

// Calls `done(action)` when it is carried out. `action.rules`: it can be restricted to one of these;
// `action.quota`: the limit of its rule.
export function openAction(action, done) {
  const {fields, read} = formOf(action);
  const [heading, command, yaml, undo] = [title(), codeBox(), codeBox(), el('p.muted')];
  const forever = el('details', el('summary', 'Permanently: paste into the configuration'), yaml.box);
  const problem = el('p.problem', {role: 'alert'});
  const go = el(action.kind === 'unblock' ? 'button.primary' : 'button.danger', {type: 'submit'});
  const oninput = () => {
    const now = read();
    heading.textContent = describe(now);
    command.text.textContent = commandLine(now, location.origin);
    yaml.text.textContent = permanent(now, action.quota);
    show(forever, yaml.text.textContent);
    undo.textContent = undoText(now);
    go.textContent = `${VERBS[now.kind]}${now.for ? ` for ${safe(now.for)}` : ''}`;
  };
  const onsubmit = async (event) => {
    event.preventDefault();
    const now = read();
    problem.textContent = now.reason ? '' : 'Reason: say why, for the action log.';
    if (!now.reason || go.disabled) return;
    go.disabled = true;
    try {
      await perform(now);
      close();
      done(now);
    } catch (failure) {
      problem.textContent = safe(failure.message, 300) + (failure.needsToken ? ' Set the token: close this, press t.' : '');
    }
    go.disabled = false;
  };
  oninput();
  open(el('form', {onsubmit, oninput}, heading, fields, el('h3', 'Command line'), command.box, el('h3', 'Undo'), undo, forever,
    el('div.end', problem, button('Cancel', close), go)));
}

export function openToken(done, message) {
  const secret = input('token-text', token.get(), {type: 'password', maxlength: 4096, autofocus: ''});
  const use = (text) => {
    token.set(text);
    close();
    done();
  };
  const onsubmit = (event) => {
    event.preventDefault();
    use(secret.value.trim());
  };
  open(el('form', {onsubmit}, title('Token'), el('p.problem', safe(message, 300)), field('Token', secret),
    el('p.muted', 'One of server.tokens. Kept until this tab is closed, sent to this daemon only.'),
    el('div.end', button('Remove', () => use('')), button('Cancel', close), el('button.primary', {type: 'submit'}, 'Use'))));
}

export function openHelp(shortcuts) {
  open(title('Keyboard'), el('dl.shortcuts', shortcuts.map(([key, text]) => el('div', el('dt', el('kbd', key)), el('dd', text)))),
    el('div.end', button('Close', close, {autofocus: ''})));
}
