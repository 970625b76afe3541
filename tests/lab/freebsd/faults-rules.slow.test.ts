import { survives } from './faults.ts';

survives('rules');
