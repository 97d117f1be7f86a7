// Calls to the admin port. The token is kept in the sessionStorage of this tab, and sent in a header.

const TOKEN = 'penstock.token';
const TIMEOUT_MS = 5000;

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? '',
  set: (text) => (text ? sessionStorage.setItem(TOKEN, text) : sessionStorage.removeItem(TOKEN)),
};

// The daemon answered with an error, or did not answer (status 0).
export class CallError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
    this.needsToken = status === 401 || status === 403;
  }
}

// Lone surrogates cannot be encoded; hostile names may have them.
const encode = (text) => encodeURIComponent(String(text).replace(/\p{Cs}/gu, '\ufffd'));

async function send(method, path, parameters, body) {
  const headers = token.get() ? {Authorization: `Bearer ${token.get()}`} : {};
  if (body) headers['Content-Type'] = 'application/json';
  const query = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '').map(([name, value]) => `${name}=${encode(value)}`);
  try {
    const response = await fetch(path + (query.length ? '?' + query.join('&') : ''), {method, headers, cache: 'no-store', credentials: 'omit',
      body: body && JSON.stringify(body), signal: AbortSignal.timeout(TIMEOUT_MS)});
    return {status: response.status, json: JSON.parse((await response.text()) || '{}')};
  } catch (failure) {
    throw new CallError(0, {TimeoutError: `no answer within ${TIMEOUT_MS / 1000} s`, SyntaxError: 'the answer is not JSON'}[failure.name] ?? 'no connection');
  }
}

async function call(method, path, parameters = {}, body = undefined) {
  const {status, json} = await send(method, path, parameters, body);
  if (status !== 200) throw new CallError(status, json.detail ?? `${path}: HTTP ${status}`);
  return json;
}

export const get = (path, parameters) => call('GET', path, parameters);
export const explain = (body) => call('POST', 'v1/explain', {}, body);

// Carries out an action of actions.js.
export function perform({kind, subject, domain, rule, reason, ...rest}) {
  const key = `v1/keys/${encode(subject)}`;
  const scope = rule ? {rule} : {domain};
  switch (kind) {
    case 'block': return call('POST', `${key}/block`, {}, {...scope, for: rest.for, reason});
    case 'unblock': return call('POST', `${key}/unblock`, {}, {...scope, reason});
    case 'reset': return call('DELETE', key, {...scope, reason});
    case 'remove': return call('DELETE', 'v1/overrides', {rule, subject, reason});
    default: return call('POST', 'v1/overrides', {}, {rule, subject, limit: rest.limit, multiply: rest.multiply, shadow: rest.shadow, for: rest.for, reason});
  }
}
