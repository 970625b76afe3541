import { survives } from './freebsd-faults.ts';

survives('kernels');
