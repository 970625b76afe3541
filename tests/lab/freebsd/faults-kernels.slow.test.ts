import { survives } from './faults.ts';

survives('kernels');
