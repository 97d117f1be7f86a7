// The files of the page: their size, and what the Content-Security-Policy forbids.

import assert from 'node:assert/strict';
import {readFileSync, readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const WEB = fileURLToPath(new URL('../../web', import.meta.url));
const MAX_BYTES = 80 * 1024;

const files = readdirSync(WEB, {recursive: true}).map(String).filter((name) => statSync(join(WEB, name)).isFile());
const read = (name) => readFileSync(join(WEB, name), 'utf8');
const scripts = files.filter((name) => name.endsWith('.js'));

test('the page is at most 80 KB', () => {
  const bytes = files.reduce((sum, name) => sum + statSync(join(WEB, name)).size, 0);
  assert.ok(bytes <= MAX_BYTES, `${bytes} bytes, ${bytes - MAX_BYTES} too many`);
});

test('no text is parsed as HTML or as code', () => {
  for (const name of scripts) {
    assert.doesNotMatch(read(name), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function/, name);
  }
});

test('nothing is loaded from elsewhere', () => {
  for (const name of files) {
    for (const [url] of read(name).matchAll(/https?:\/\/[^\s'"`)]*/g)) {
      assert.match(url, /^http:\/\/www\.w3\.org\/|^https:\/\/api\.example\.com\//, name);
    }
  }
  assert.doesNotMatch(read('style.css'), /@import|url\(/);
});

test('the document has no inline script and no inline style', () => {
  const html = read('index.html');
  assert.doesNotMatch(html, /<style|\sstyle=|\son[a-z]+=|javascript:/i);
  assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)/i);
});

test('every module that is imported exists, and every element that is looked up by name', () => {
  const ids = new Set([...read('index.html').matchAll(/\sid="([\w-]+)"/g)].map(([, id]) => id));
  for (const name of scripts) {
    for (const [, path] of read(name).matchAll(/from '\.\/(\w+\.js)'/g)) assert.ok(files.includes(join('app', path)), `${name}: ${path}`);
    for (const [, id] of read(name).matchAll(/byId\('([\w-]+)'\)/g)) assert.ok(ids.has(id), `${name}: #${id}`);
  }
});
