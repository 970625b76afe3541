import { survives } from './faults.ts';

survives('machines');
