// The history of a page: steps of equal length, newest last, bounded. Pure.

export const NAMES = ['admitted', 'denied', 'shadow_denied', 'without_store'];
const MAX_MARKS = 200;
const LATE_STEPS = 6;  // nodes report with a delay: the newest steps are asked for again

export const empty = () => ({step_ms: 1000, from_ms: 0, now_ms: 0, marks: [], admitted: [], denied: [], shadow_denied: [], without_store: []});
const endOf = (series) => series.from_ms + series.admitted.length * series.step_ms;
export const since = (series) => (series.admitted.length ? Math.max(0, endOf(series) - LATE_STEPS * series.step_ms) : undefined);

function mergeMarks(old, fresh, from) {
  const all = new Map([...old, ...fresh].filter((mark) => mark.at_ms >= from).map((mark) => [`${mark.at_ms} ${mark.kind} ${mark.node} ${mark.text}`, mark]));
  return [...all.values()].sort((a, b) => a.at_ms - b.at_ms).slice(-MAX_MARKS);
}

// With the answer appended; steps in both are those of the answer.
export function merge(series, answer, span_ms) {
  const {step_ms, now_ms} = answer;
  const skipped = (answer.from_ms - series.from_ms) / step_ms;
  const continues = series.step_ms === step_ms && Number.isInteger(skipped) && skipped >= 0 && skipped <= series.admitted.length;
  const kept = continues ? skipped : 0;
  const cut = Math.max(0, kept + (answer.admitted?.length ?? 0) - Math.ceil(span_ms / step_ms));
  const merged = {step_ms, now_ms, from_ms: answer.from_ms + (cut - kept) * step_ms, marks: mergeMarks(series.marks, answer.marks ?? [], now_ms - span_ms)};
  for (const name of NAMES) merged[name] = [...series[name].slice(0, kept), ...(answer[name] ?? [])].slice(cut);
  return merged;
}

// Per second, over ten seconds; the newest step may be incomplete.
export function recentRate(series, name) {
  const recent = series[name].slice(-1 - Math.max(1, 10000 / series.step_ms), -1);
  return recent.reduce((sum, n) => sum + n, 0) / Math.max(1, (recent.length * series.step_ms) / 1000);
}

export function niceCeiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(5, value)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((n) => n * power).find((n) => n >= Math.max(5, value));
}
