// One tab of Chromium, driven by lines of JSON on the standard input: {"do": NAME, ...}. Every line is
// answered by one line: {"value": ...} or {"error": TEXT}. Arguments: the program of the browser, its options.

import {createInterface} from 'node:readline';
import {chromium} from 'playwright-core';

const [program, ...options] = process.argv.slice(2);
const TIMEOUT_MS = 60000;

const browser = await chromium.launch({executablePath: program, args: options, timeout: 60000});
const problems = [];
let tab;

async function open({url, width, height, scheme}) {
  await tab?.context().close();
  const context = await browser.newContext({viewport: {width, height}, colorScheme: scheme, reducedMotion: 'reduce'});
  context.setDefaultTimeout(TIMEOUT_MS);
  tab = await context.newPage();
  tab.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(`${message.type()}: ${message.text()}`));
  tab.on('pageerror', (error) => problems.push(`exception: ${error.stack}`));
  tab.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await tab.addInitScript(() => document.addEventListener('securitypolicyviolation', ({violatedDirective, blockedURI}) =>
    console.error(`policy violation: ${violatedDirective} ${blockedURI}`)));
  await tab.goto(url);
}

const COMMANDS = {
  open,
  text: ({selector}) => tab.locator(selector).first().innerText(),
  texts: ({selector}) => tab.locator(selector).allInnerTexts(),
  value: ({selector}) => tab.locator(selector).inputValue(),
  click: ({selector}) => tab.locator(selector).first().click(),
  fill: ({selector, text}) => tab.locator(selector).fill(text),
  press: ({key}) => tab.keyboard.press(key),
  type: ({text}) => tab.keyboard.type(text),
  focused: () => tab.evaluate(() => document.activeElement.id || document.activeElement.innerText),
  evaluate: ({script}) => tab.evaluate(script),
  screenshot: async ({path, selector}) => {
    const image = {path, animations: 'disabled', caret: 'hide'};
    if (selector) await tab.locator(selector).screenshot(image);
    else await tab.screenshot(image);
  },
  problems: () => problems.splice(0),
};

for await (const line of createInterface({input: process.stdin})) {
  const {do: name, ...parameters} = JSON.parse(line);
  let answer;
  try {
    answer = {value: (await COMMANDS[name](parameters)) ?? null};
  } catch (failure) {
    answer = {error: String(failure.message ?? failure)};
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
