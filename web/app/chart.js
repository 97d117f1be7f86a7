// The history as an SVG: denied, shadow-denied and admitted stacked, decisions without the store as a
// line, events as marks on the axis.

import {clock, number} from './format.js';
import {NAMES, niceCeiling, recentRate} from './series.js';
import {markLine} from './answers.js';
import {button, byId, el, keyed, setText, show, svg} from './dom.js';

const HEIGHT = 200;
const PLOT = HEIGHT - 34;  // below it: times, then marks
const LEFT = 34;
const NEAR = 15;  // pixels; closer marks are one mark
const LABELS = {admitted: 'admitted', denied: 'denied', shadow_denied: 'shadow-denied', without_store: 'without store'};
const LETTERS = {reload: 'R', reload_failed: '!', outage: '↓', recovery: '↑', override: 'O', action: 'A', rollout_abort: '✕', start: 'S'};
const KINDS = {reload_failed: 'bad', outage: 'bad', rollout_abort: 'bad', recovery: 'ok', override: 'operator', action: 'operator'};

const hidden = new Set();
let drawn;  // {series, x, index, width} of the last drawing
let cursor;  // index of the step under the crosshair

// The stack of one step: shadow-denied requests are admitted, unless another limit denied them.
function stack(series, i) {
  const value = (name) => (hidden.has(name) ? 0 : series[name][i]);
  const shadow = Math.min(value('shadow_denied'), series.admitted[i]);
  const denied = value('denied');
  return [0, denied, denied + shadow, denied + Math.max(shadow, value('admitted'))];
}

function areaPath(stacks, level, x, y) {
  const at = (i) => x(i).toFixed(1);
  const top = stacks.map((stacked, i) => `L${at(i)} ${y(stacked[level + 1])}H${at(i + 1)}`);
  const bottom = stacks.map((stacked, i) => `L${at(i + 1)} ${y(stacked[level])}H${at(i)}`);
  return stacks.length ? `M${at(0)} ${y(0)}${top.join('')}${bottom.reverse().join('')}Z` : '';
}

const linePath = (values, x, y) => values.map((v, i) => `${i ? 'L' : 'M'}${x(i + 0.5).toFixed(1)} ${y(v)}`).join('');

function axes({from_ms, step_ms, admitted}, {x, y, top, span, width}) {
  const lines = [0, top / 2, top].flatMap((v) => [svg('line.grid', {x1: LEFT, x2: width, y1: y(v), y2: y(v)}),
    svg('text', {x: LEFT - 4, y: +y(v) + (v === top ? 9 : 3), 'text-anchor': 'end'}, number(v))]);
  const every = (span > 600000 ? 600000 : 60000) * (width < 420 ? 2 : 1);
  const end = from_ms + admitted.length * step_ms;
  for (let at = Math.ceil((end - span) / every) * every; at <= end; at += every) {
    const place = x((at - from_ms) / step_ms);
    if (place > LEFT + 14 && place < width - 12) lines.push(svg('text', {x: place, y: PLOT + 12, 'text-anchor': 'middle'}, clock(at).slice(0, 5)));
  }
  return lines;
}

function drawMarks(parent, {marks, from_ms, step_ms, now_ms}, {x, width}) {
  const groups = [];
  for (const mark of marks) {
    const at = Math.min(x((mark.at_ms - from_ms) / step_ms), width - 8);
    if (at - groups.at(-1)?.at < NEAR) groups.at(-1).marks.push(mark);
    else if (at >= LEFT) groups.push({at, marks: [mark]});
  }
  keyed(parent, groups, (group) => `${group.marks[0].at_ms} ${group.marks[0].text}`, () => {
    const showTip = () => tip(node.getAttribute('aria-label'), node.at, width);
    const hide = () => tip();
    const node = svg('g', {tabindex: 0, role: 'img', onpointerenter: showTip, onfocus: showTip, onpointerleave: hide, onblur: hide},
      svg('line', {y1: 4, y2: PLOT}), svg('rect', {x: -7, y: PLOT + 16, width: 14, height: 14, rx: 3}), svg('text', {y: PLOT + 27}));
    return node;
  }, (node, group) => {
    const worst = group.marks.find((mark) => KINDS[mark.kind] === 'bad') ?? group.marks.at(-1);
    node.at = group.at;
    node.setAttribute('transform', `translate(${group.at} 0)`);
    node.setAttribute('aria-label', group.marks.map((mark) => markLine(mark, now_ms)).join('\n'));
    node.setAttribute('class', `mark ${KINDS[worst.kind] ?? ''}`);
    setText(node.lastChild, LETTERS[worst.kind] ?? '·');
  });
}

function tip(text, at, width) {
  const box = byId('chart').lastChild;
  show(box, text);
  if (!text) return;
  setText(box, text);
  box.style.left = at < width / 2 ? `${at + 8}px` : 'auto';
  box.style.right = at < width / 2 ? 'auto' : `${width - at + 8}px`;
}

function moveCursor(index) {
  const {series, x, width} = drawn;
  const line = byId('chart').querySelector('.crosshair');
  cursor = index;
  const isShown = index >= 0 && index < series.admitted.length;
  line.setAttribute('visibility', isShown ? 'visible' : 'hidden');
  if (!isShown) return tip();
  const at = x(index + 0.5);
  line.setAttribute('transform', `translate(${at} 0)`);
  const values = NAMES.map((name) => `${LABELS[name]} ${number(series[name][index] / (series.step_ms / 1000))}/s`);
  return tip([clock(series.from_ms + index * series.step_ms), ...values].join('\n'), at, width);
}

function onKey({key, shiftKey}) {
  const step = {ArrowLeft: -1, ArrowRight: 1}[key] * (shiftKey ? 10 : 1);
  const end = drawn.series.admitted.length;
  if (step) moveCursor(Math.max(0, Math.min(end - 1, (cursor ?? end) + step)));
}

function build(parent) {
  const leave = () => moveCursor(undefined);
  const move = ({clientX, target, currentTarget}) => {
    if (!target.closest('.mark')) moveCursor(drawn.index(clientX - currentTarget.getBoundingClientRect().left));
  };
  parent.append(svg('svg', {tabindex: 0, role: 'group', 'aria-label': 'Decisions; the left and right arrow keys read values',
    onpointermove: move, onpointerleave: leave, onblur: leave, onkeydown: onKey},
  svg('g.axes'), ...['admitted', 'shadow_denied', 'denied'].map((name) => svg(`path.area.${name}`)), svg('path.without'),
  svg('line.crosshair', {y2: PLOT, visibility: 'hidden'}), svg('g.marks')), el('div.tip', {role: 'status', hidden: ''}));
}

export function renderChart(series, span) {
  const parent = byId('chart');
  if (!parent.firstChild) build(parent);
  const part = (name) => parent.querySelector(name);
  const {step_ms} = series;
  const width = Math.max(240, parent.clientWidth);
  const steps = series.admitted.length;
  const scale = (width - LEFT) / (span / step_ms);
  const x = (i) => width - (steps - i) * scale;
  const stacks = series.admitted.map((_, i) => stack(series, i));
  const without = hidden.has('without_store') || !series.without_store.some((v) => v) ? [] : series.without_store;
  const top = niceCeiling((Math.max(0, ...stacks.map((stacked) => stacked[3]), ...without) * 1000) / step_ms);
  const y = (v) => (4 + (1 - v / top) * (PLOT - 4)).toFixed(1);
  const perStep = (v) => y((v * 1000) / step_ms);
  drawn = {series, x, width, index: (at) => Math.floor(steps - (width - at) / scale)};
  part('svg').setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
  part('.axes').replaceChildren(...axes(series, {x, y, top, span, width}));
  ['denied', 'shadow_denied', 'admitted'].forEach((name, level) => part(`.area.${name}`).setAttribute('d', areaPath(stacks, level, x, perStep)));
  part('.without').setAttribute('d', linePath(without, x, perStep));
  drawMarks(part('.marks'), series, {x, width});
  if (cursor !== undefined) moveCursor(cursor);
  keyed(byId('legend'), NAMES, (name) => name, (name) => {
    const toggle = () => {
      if (!hidden.delete(name)) hidden.add(name);
      renderChart(drawn.series, span);
    };
    return button([el(`span.swatch.${name}`), LABELS[name], el('b')], toggle);
  }, (node, name) => {
    node.setAttribute('aria-pressed', !hidden.has(name));
    setText(node.lastChild, number(recentRate(series, name)));
  });
}

// One bar per value, for up to a minute.
export const spark = () => svg('svg.spark', {viewBox: '0 0 120 18', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, svg('path'));
export function drawSpark({firstChild: path}, values, isShadow) {
  const top = Math.max(1, ...values);
  const first = 60 - values.length;
  path.setAttribute('d', values.map((v, i) => (v > 0 ? `M${2 * (first + i)} 18v${-Math.max(1.5, (v / top) * 17).toFixed(1)}h1.6V18z` : '')).join(''));
  path.setAttribute('class', isShadow ? 'shadow' : '');
}
