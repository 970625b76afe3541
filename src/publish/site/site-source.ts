// What a site is made of.

import type { Trend } from '../../analysis/trend/nightly-runs.ts';
import type { Index } from '../data-branch/layout.ts';
import type { Lab } from './lab-state.ts';

export type Source = Trend & { results: Pick<Index, 'results'>; lab?: Lab };

export type KeptResult = Index['results'][number];
