import { survives } from './freebsd-faults.ts';

survives('machines');
