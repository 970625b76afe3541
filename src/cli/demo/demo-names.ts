// Names the files that a demo creates in its directory.
import type { OwnNames } from '../../system/give-to-caller.ts';
import { bisectNames } from './demo-bisection.ts';
import { demoPatches } from './demo-repository.ts';

const works = [...demoPatches.map(({ branch }) => branch), bisectNames.work];
const repositories = ['repository', bisectNames.repository];

export const demoNames: OwnNames = {
  names: [...repositories, ...repositories.map((name) => `${name}.part`), 'history.jsonl', ...works],
  marks: works,
};
