// Defines the input of a site.

import type { Trend } from '../../analysis/trend/nightly-runs.ts';
import type { DataIndex } from '../data-branch/layout.ts';
import type { LabSnapshot } from './lab-state.ts';

export type SiteSource = Trend & { results: Pick<DataIndex, 'results'>; lab?: LabSnapshot };

export type KeptResult = DataIndex['results'][number];
