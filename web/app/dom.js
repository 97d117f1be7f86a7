// Elements from data. Texts become text nodes and attributes; no string is ever parsed as HTML.

function make(space, tag, parts) {
  const [name, ...classes] = tag.split('.');
  const node = document.createElementNS(space, name);
  if (classes.length) node.setAttribute('class', classes.join(' '));
  const attributes = parts[0]?.constructor === Object ? parts.shift() : {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...parts.flat().filter((child) => child));
  return node;
}

// el('td.num', {title}, children): a tag with classes; attributes may be left out.
export const el = (tag, ...parts) => make('http://www.w3.org/1999/xhtml', tag, parts);
export const svg = (tag, ...parts) => make('http://www.w3.org/2000/svg', tag, parts);
export const button = (label, onclick, attributes = {}, classes = '') => el(`button${classes}`, {type: 'button', onclick, ...attributes}, label);
export const byId = (id) => document.getElementById(id);
export const show = (node, isShown) => { node.hidden = !isShown; };

// Only if it differs: live regions announce every change, and selections survive.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
export const setCells = ({cells}, texts) => texts.forEach((text, i) => setText(cells[i], text));  // not those left out: [, text]

// Makes new children only if `signature` differs from the last one.
export function refill(node, signature, make) {
  if (node.signature === signature) return;
  node.signature = signature;
  node.replaceChildren(...make());
}

// One child per item, kept by key and updated, so that focus survives. While the pointer or the focus is
// inside, the order stays: rows do not move under a click.
export function keyed(parent, items, keyOf, make, update = () => {}) {
  const old = parent.byKey ?? new Map();
  const now = parent.byKey = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (now.has(key)) continue;
    const node = old.get(key) ?? make(item);
    update(node, item);
    now.set(key, node);
  }
  for (const [key, node] of old) if (!now.has(key)) node.remove();
  const isInUse = parent.matches(':hover') || parent.contains(document.activeElement);
  let place = parent.firstElementChild;
  for (const node of now.values()) {
    if (node === place) place = place.nextElementSibling;
    else if (node.parentNode !== parent) parent.insertBefore(node, isInUse ? null : place);
    else if (!isInUse) parent.insertBefore(node, place);
  }
}
