// Writes the text beside a series: a nightly run, a comparison of two, and the CSV of those drawn.
import { changeText, dayOf, isWorse, make } from './chart.js';

/** @typedef {import('./series-view.js').SeriesView} SeriesView */

const occasionNames = { nightly: 'nightly', push: 'push', again: 'once more' };

/** The date, commit and value of a nightly run, with remarks. @returns {(string | Node)[]} */
export function nightlyRunPieces(/** @type {SeriesView} */ view, /** @type {number} */ index) {
  const { at, commits, occasions } = view.data;
  const value = view.numbers.typical[index];
  return [
    make('b', {}, dayOf(at[index] ?? 0)),
    ` ${occasionNames[occasions[index] ?? 'nightly']} of `,
    make('code', {}, (commits[index] ?? '').slice(0, 12)),
    ': ',
    make('b', {}, typeof value === 'number' ? view.textOf(view.inUnit(value)) : 'no number'),
    `${spanText(view, index)}${levelText(view, index)}`,
    ...remarksAt(view, index),
  ];
}

/** ` (4.97 Mpps … 4.99 Mpps)`, of the least and the most trial. */
function spanText(/** @type {SeriesView} */ view, /** @type {number} */ index) {
  const [low, high] = [view.numbers.least[index], view.numbers.most[index]];
  if (typeof low !== 'number' || typeof high !== 'number') return '';
  return ` (${view.textOf(view.inUnit(low))} … ${view.textOf(view.inUnit(high))})`;
}

function levelText(/** @type {SeriesView} */ view, /** @type {number} */ index) {
  const value = view.numbers.typical[index];
  const level = view.data.levels.find(({ from, to }) => index >= from && index < to);
  if (!level || typeof value !== 'number' || view.unit !== view.data.metric) return '';
  return `, ${changeText(value / level.typical - 1)} off its level`;
}

function remarksAt(/** @type {SeriesView} */ view, /** @type {number} */ index) {
  const since = view.data.times[index - 1] ?? Number.NEGATIVE_INFINITY;
  const until = view.timeOf(index);
  return [...view.data.fingerprints, ...view.data.releases]
    .filter(({ time }) => time > since && time <= until && index > 0)
    .map(({ text }) => make('div', { class: 'faint' }, text));
}

/** The change from one nightly run to another, and the commits between. @returns {(string | Node)[]} */
export function comparisonPieces(/** @type {SeriesView} */ view, /** @type {number} */ a, /** @type {number} */ b) {
  const { commits, compare } = view.data;
  const [from, to] = [commits[a] ?? '', commits[b] ?? ''];
  if (from === to) return [...changePieces(view, a, b), 'the same commit. '];
  const address = compare?.replaceAll('F'.repeat(40), from).replaceAll('T'.repeat(40), to);
  const range = make('code', {}, `${from.slice(0, 12)}..${to.slice(0, 12)}`);
  return [
    ...changePieces(view, a, b),
    'commits between: ',
    address === undefined ? range : make('a', { href: address, id: 'compare' }, range),
    ' ',
  ];
}

/** @returns {(string | Node)[]} */
function changePieces(/** @type {SeriesView} */ view, /** @type {number} */ a, /** @type {number} */ b) {
  const [before, after] = [view.numbers.typical[a], view.numbers.typical[b]];
  if (typeof before !== 'number' || typeof after !== 'number') return [];
  const ratio = after / before - 1;
  const metric = view.unit === 'percent' ? view.data.metric : view.unit;
  const style = Math.abs(ratio) < 0.01 ? 'faint' : isWorse(metric, ratio) ? 'loss' : 'gain';
  return [
    make('strong', { class: style }, changeText(ratio)),
    ' over ',
    b - a === 1 ? 'one nightly run' : `${b - a} nightly runs`,
    '; ',
  ];
}

export function csvOf(/** @type {SeriesView} */ view) {
  const { times, at, commits, occasions } = view.data;
  const { typical, least, most } = view.numbers;
  const name = view.unit === 'percent' ? `percent_of_${(commits[view.reference] ?? '').slice(0, 12)}` : view.unit;
  const lines = times.flatMap((_, index) => {
    if (!view.isDrawn(index)) return [];
    const values = [typical, least, most].map((of) => (typeof of[index] === 'number' ? view.inUnit(of[index]) : ''));
    const time = new Date((at[index] ?? 0) * 1000).toISOString();
    return [[time, commits[index], occasions[index], ...values].join(',')];
  });
  const header = `at,commit,occasion,${name}_median,${name}_least,${name}_most`;
  return [header, ...lines, ''].join('\n');
}
