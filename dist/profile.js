// src/profile/profile.ts
const samplesOf = (stacks) => stacks.reduce((sum, { samples }) => sum + samples, 0);

export { samplesOf as t };