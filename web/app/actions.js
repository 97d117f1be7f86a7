// What an operator can do: sentences, command lines, undo, and YAML for a permanent change. Pure.
// An action is {kind, subject, domain or rule, for, reason, limit or multiply or shadow}; its kind is
// block, unblock, reset, override, or remove (an override). Subject '' is the whole rule.

import {domainOf, escapeAll, escapeUnsafe, safe, shortDuration} from './format.js';

export const WHOLE_RULE = '(all)';  // the subject of a rule without a key

// One word of a POSIX shell; invisible characters in $'…', so that it can be pasted.
export function shellWord(text) {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (escapeUnsafe(text) === text) return `'${text.replace(/'/g, `'\\''`)}'`;
  return `$'${escapeUnsafe(text.replace(/[\\']/g, '\\$&'))}'`;
}

export function commandLine({kind, subject, domain, rule, limit, multiply, shadow, reason, ...rest}, server) {
  const option = (name, value) => (value ? `--${name}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}` : '');
  const isOverride = kind === 'override' || kind === 'remove';
  const words = isOverride
    ? ['override', kind === 'remove' ? 'remove' : 'set', shellWord(rule), option('subject', subject), option('limit', limit), option('multiply', multiply), shadow ? '--shadow' : '']
    : [kind, shellWord(subject), rule ? option('rule', rule) : option('domain', domain)];
  return ['penstock', ...words, option('for', rest.for), option('reason', reason), option('server', server)].filter((word) => word).join(' ');
}

export const effectOf = ({shadow, limit, multiply}) => (shadow ? 'shadow' : limit ? `limit ${safe(limit)}` : `limit × ${safe(multiply)}`);

export function targetOf({subject, rule, domain}) {
  const where = rule ? `rule ${safe(rule)}` : `domain ${safe(domain)}`;
  return subject && subject !== WHOLE_RULE ? `${safe(subject)} in ${where}` : where;
}

// "Block user=42 in domain api for 10m"
export function describe(action) {
  const what = {block: 'Block', unblock: 'Unblock', reset: 'Reset the usage of', override: 'Override', remove: 'Remove the override of'}[action.kind];
  return `${what} ${targetOf(action)}${action.kind === 'override' ? `: ${effectOf(action)}` : ''}${action.for ? ` for ${safe(action.for)}` : ''}`;
}

// The action that undoes this one, if any. `before`, an override that was in force, is restored for the
// rest of its time.
export function undoOf({kind, subject, rule, domain, reason}, before = undefined, now = 0) {
  const why = safe(`undo: ${reason}`, 150);
  if (kind === 'block') return {kind: 'unblock', subject, rule, domain, reason: why};
  if (kind !== 'override' && kind !== 'remove') return undefined;
  const left = before ? Math.floor((before.expires_at_ms - now) / 1000) * 1000 : 0;
  if (left > 0) return {kind: 'override', subject, rule, limit: before.limit, multiply: before.multiply, shadow: before.shadow, for: shortDuration(left), reason: why};
  return kind === 'override' ? {kind: 'remove', subject, rule, reason: why} : undefined;
}

// Names and values; undefined when malformed.
export function subjectParts(subject) {
  const parts = subject.split('&').map((part) => /^([^=]+)=(.*)$/s.exec(part)?.slice(1));
  if (parts.includes(undefined)) return undefined;
  return parts.map((part) => part.map((text) => text.replace(/%([01][0-9A-F]|7F|2[56]|3D)/gi, (_, code) => String.fromCharCode(parseInt(code, 16)))));
}

// JSON strings are YAML strings.
const yaml = (text) => (/^[a-z_][\w.-]*$/i.test(text) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(text) ? text : escapeAll(JSON.stringify(text)));
const times = (quota, factor) => quota.replace(/^\d+|(?<=burst )\d+/g, (n) => Math.round(n * factor));

function overrideYaml({rule, subject, limit, multiply, shadow}, quota) {
  const domain = domainOf(rule);
  const inRule = (line) => ['domains:', `  ${yaml(domain)}:`, '    rules:', `      - name: ${yaml(rule.slice(domain.length + 1))}`, '        # …', `        ${line}`];
  const text = limit || times(quota, multiply);
  if (shadow) return inRule('shadow: true');
  if (!subject || subject === WHOLE_RULE) return inRule(`limit: ${text}`);
  const [[name, value], ...others] = subjectParts(subject) ?? [[], []];
  if (!name || others.length) return ['# The key has several attributes: write a rule for', `# this subject, with limit: ${text}`];
  return ['maps:', '  special-limits:', `    values: {${yaml(value)}: ${text}}`, ...inRule(`overrides: {map: special-limits, by: ${yaml(name)}}`)];
}

// What to write into the configuration; '' if there is nothing.
export function permanent(action, quota = '') {
  if (action.kind === 'override') return overrideYaml(action, quota).join('\n');
  const parts = action.kind === 'block' ? subjectParts(action.subject) : undefined;
  if (!parts) return '';
  const when = parts.map(([name, value]) => `${yaml(name)}: ${name === 'client_ip' ? yaml(value) : `{equals: ${yaml(value)}}`}`).join(', ');
  return ['domains:', `  ${yaml(action.domain || domainOf(action.rule))}:`, '    deny:', '      - name: blocked-by-operator', `        when: {${when}}`].join('\n');
}
