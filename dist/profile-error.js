// src/profile/profile.ts
const samplesOf = (stacks) => stacks.reduce((sum, { samples }) => sum + samples, 0);

// src/profile/profile-error.ts
/** One sentence that names the file, where it goes wrong, and what to do. */
var ProfileError = class extends Error {
	name = "ProfileError";
};

export { samplesOf as n, ProfileError as t };