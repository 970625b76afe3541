// Renders the page of testbeds: their lease holders, queues and health.

import { stateNames } from '../../gate/reserve/testbeds-overview.ts';
import { plainLine } from '../../model/escape.ts';
import { formatEstimate } from '../../model/format.ts';
import { table } from '../../report/html-pieces.ts';
import { type Html, html, type Piece } from '../../report/markup.ts';
import { hourOf, moment, type Page } from './document.ts';
import { type CellSeries, lastBegun } from './series.ts';
import type { LabSnapshot } from './site-source.ts';

export const labPage = (lab: LabSnapshot, series: readonly CellSeries[]): Page => ({
  path: 'lab.html',
  title: 'The lab',
  body: html`<header>
<h1>The lab</h1>
<p class="faint">As of ${hourOf(lab.overview.at)}</p>
</header>
<main>
<section id="testbeds">
<h2>Testbeds</h2>
${testbeds(lab, series)}</section>
<section id="queue">
<h2>Queue</h2>
${queue(lab.overview)}</section>
</main>
`,
});

type Overview = LabSnapshot['overview'];
type Testbed = Overview['testbeds'][number];

const testbeds = ({ overview, health }: LabSnapshot, series: readonly CellSeries[]): Html =>
  table({
    caption: 'Testbeds, in the order of the configuration',
    heads: ['testbed', 'state', 'holder and purpose', 'until about', 'health', 'last night'].map((text) => ({ text })),
    rows: overview.testbeds.map((one) => [
      plainLine(one.name),
      html`<b class="${looks[one.state]}">${stateNames[one.state]}</b>`,
      usedBy(one),
      one.held ? hourOf(one.held.expectedUntil) : '–',
      healthText(health?.find(({ testbed }) => testbed === one.name)),
      lastOf(series.filter(({ testbed }) => testbed === one.name)),
    ]),
  });

const looks = {
  free: 'no-regression',
  held: 'invalid',
  quarantine: 'regression',
  'left-behind': 'inconclusive',
} as const;

function usedBy({ held, quarantine, leftBy }: Testbed): Piece {
  const user = held ?? leftBy[0];
  const parts: Piece[] = [
    user && html`${plainLine(user.who)}: ${aimText(user)}, since ${hourOf(user.since)}`,
    quarantine && html`${plainLine(quarantine.reason, 300)} (${plainLine(quarantine.by)}, ${moment(quarantine.since)})`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '–' : parts.map((part) => html`<div>${part}</div>`);
}

const aimText = ({ purpose, patch }: { purpose: string; patch?: string | undefined }): string =>
  plainLine(patch === undefined ? purpose : `${purpose} of ${patch}`);

function healthText(health: NonNullable<LabSnapshot['health']>[number] | undefined): Piece {
  switch (health?.kind) {
    case undefined:
      return '–';
    case 'well':
      return html`<b class="no-regression">well</b>`;
    case 'in-use':
      return html`not checked: ${plainLine(health.why, 300)}`;
    case 'wrong': {
      const first = health.findings.find(({ kind }) => kind === 'wrong');
      return html`<b class="regression">wrong</b>${first && `: ${plainLine(first.what)}, ${plainLine(first.why, 300)}`}`;
    }
  }
}

function lastOf(series: readonly CellSeries[]): Piece {
  const last = lastBegun(series);
  return last === undefined ? '–' : moment(last);
}

const queue = ({ queue: waiting }: Overview): Html =>
  waiting.length === 0
    ? html`<p>No gate is waiting.</p>\n`
    : table({
        caption: 'In the order of the queue',
        heads: ['who', 'purpose', 'on', 'since', 'turn in'].map((text) => ({ text })),
        rows: waiting.map((one) => [
          plainLine(one.who),
          aimText(one),
          one.wants.map((name) => plainLine(name)).join(', '),
          hourOf(one.since),
          one.expectedSeconds === undefined ? 'unknown' : formatEstimate(one.expectedSeconds),
        ]),
      });
