// Numbers, times and names as text. Pure.

// Control, bidirectional and zero-width characters, line separators, lone surrogates.
const UNSAFE = /[\0-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;
const SHORT = {'\n': '\\n', '\r': '\\r', '\t': '\\t'};
const hex = (c) => (c[1] ? '\\U' : '\\u') + c.codePointAt(0).toString(16).padStart(c[1] ? 8 : 4, '0');

export const escapeUnsafe = (text) => text.replace(UNSAFE, (c) => SHORT[c] ?? hex(c));
export const escapeAll = (text) => text.replace(/[\x7f-\u{10ffff}]/gu, hex);

// On one line, these escaped, the middle of long texts cut out.
export function safe(text, max = 60) {
  const escaped = escapeUnsafe(String(text ?? ''));
  if (escaped.length <= max) return escaped;
  const tail = Math.floor(max / 4);
  return `${escaped.slice(0, max - tail)} … ${escaped.slice(-tail)} (${text.length} characters)`;
}

export const inLine = (text, max) => safe(text.replace(/\s*\n\s*/g, ' '), max);  // of a daemon

const UNITS = [['d', 86400000], ['h', 3600000], ['min', 60000], ['s', 1000]];

// "850 ms", "21 s", "4 min 10 s". Rounds up: a wait is over when it says.
export function duration(ms) {
  if (!(ms > 0)) return ms === 0 || ms < 0 ? '0 s' : '–';
  if (ms < 1000) return `${Math.ceil(ms)} ms`;
  const whole = Math.ceil(ms / 1000) * 1000;
  const first = UNITS.findIndex(([, size]) => whole >= size);
  const [name, size] = UNITS[first];
  const [nextName, nextSize] = UNITS[first + 1] ?? ['', Infinity];
  const rest = Math.floor((whole % size) / nextSize);
  return `${Math.floor(whole / size)} ${name}${rest ? ` ${rest} ${nextName}` : ''}`;
}

export const ago = (ms) => (ms < 1000 ? 'just now' : `${duration(ms - (ms % 1000))} ago`);

const CONFIG_UNITS = {ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000};
export function shortDuration(ms) {
  const [unit, size] = Object.entries(CONFIG_UNITS).findLast(([, each]) => ms % each === 0);
  return `${ms / size}${unit}`;
}

// UTC, as in the log of the daemon; with the date if it is not the day of `now`.
export function clock(ms, now = ms) {
  if (!Number.isFinite(ms)) return '–';
  const [day, time] = new Date(ms).toISOString().split('T');
  return (new Date(now).toISOString().startsWith(day) ? '' : `${day} `) + time.slice(0, 8);
}

// "0", "0.3", "38", "9999", "12k", "3.4M".
export function number(value) {
  if (!Number.isFinite(value)) return '–';
  const [unit, size] = [['G', 1e9], ['M', 1e6], ['k', 1e3]].find(([, each]) => value >= each && value >= 1e4) ?? ['', 1];
  const scaled = value / size;
  if (scaled > 0 && scaled < 0.1) return '<0.1';
  return (scaled >= 10 ? Math.round(scaled) : +scaled.toFixed(1)) + unit;
}

export function percent(fraction) {
  if (!Number.isFinite(fraction)) return '–';
  return fraction > 0 && fraction < 0.01 ? '<1 %' : `${fraction < 1 ? Math.min(99, Math.round(fraction * 100)) : 100} %`;
}

export const latency = (us) => (Number.isFinite(us) ? `${+(us / 1000).toPrecision(3)} ms` : '–');
export const plural = (n, word) => `${number(n)} ${word}${n === 1 ? '' : 's'}`;
export const domainOf = (rule) => rule.slice(0, Math.max(0, rule.indexOf('/')));
export const quotasOf = (rule) => safe((rule.limits ?? []).map((limit) => limit.quota).join(', '));
export const ruleId = (rule) => `${rule.domain}/${rule.name}`;
