// Reads a pasted request: a curl command, an HTTP request, a URL, or JSON of /v1/check. Pure.
// The attributes are those of /v1/forward-auth.

// The words of a shell command.
export const shellWords = (text) => [...text.replace(/\\\r?\n/g, ' ').matchAll(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/gs)].map(([word]) =>
  word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_, single, double, escaped) => single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped));

function addUrl(attributes, url) {
  const [, host, path, query] = /^(?:[a-z]+:\/\/)?([^/?#]*)([^?#]*)\??([^#]*)/i.exec(url);
  if (host) attributes.host = host.replace(/^.*@/, '');
  attributes.path = path || '/';
  if (query) attributes.query = query;
}

function addHeader(attributes, line) {
  const [, name, value] = /^([^:]+):\s*(.*?)\s*$/.exec(line) ?? [];
  if (!name) return;
  const field = name.trim().toLowerCase();
  attributes[`header.${field}`] = value;
  if (field === 'host') attributes.host = value;
  if (field === 'x-forwarded-for') attributes.client_ip = value.split(',').pop().trim();
  if (/^x-(forwarded|original)-ur[il]$/.test(field)) addUrl(attributes, value);
}

function fromCurl(words) {
  const attributes = {};
  const [urls, fields] = [[], []];
  let body;
  for (let i = 1; i < words.length; i += 1) {
    const [, name, joined] = /^(-[XHd]|--[a-z-]+(?==))=?(.+)$/s.exec(words[i]) ?? [null, words[i], undefined];
    const value = () => joined ?? words[++i] ?? '';
    if (!name.startsWith('-')) urls.push(name);
    else if (/^(-X|--request)$/.test(name)) attributes.method = value();
    else if (/^(-H|--header)$/.test(name)) fields.push(value());
    else if (/^(-d|--data.*|--json)$/.test(name)) body = value();
  }
  attributes.method ??= body === undefined ? 'GET' : 'POST';
  addUrl(attributes, urls.find((word) => word.includes('://')) ?? urls.at(-1) ?? '/');
  for (const line of fields) addHeader(attributes, line);
  return {attributes, body};
}

function fromHttp(text) {
  const [head, body] = text.split(/\r?\n\r?\n/, 2);
  const [first, ...fields] = head.split(/\r?\n/);
  const [method, target] = first.split(/\s+/);
  const attributes = {method};
  addUrl(attributes, target);
  for (const line of fields) addHeader(attributes, line);
  return {attributes, body};
}

function fromJson(text) {
  try {
    const {domain, attributes} = JSON.parse(text);
    return {domain, attributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)]))};
  } catch {
    return undefined;
  }
}

// {domain?, attributes}; undefined when the text is none of these.
export function parseRequest(text) {
  const trimmed = text.trim().replace(/^\$\s+/, '');
  const found = /^curl\s/.test(trimmed) ? fromCurl(shellWords(trimmed))
    : /^[A-Z]+ \S+/.test(trimmed) ? fromHttp(trimmed)
    : /^https?:\S+$/.test(trimmed) ? fromCurl(['curl', trimmed]) : undefined;
  if (!found) return fromJson(trimmed);
  return (/^\/v1\/(check|explain)$/.test(found.attributes.path) && fromJson(found.body)) || {attributes: found.attributes};
}
