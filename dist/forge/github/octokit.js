import { Octokit, paginateRest, retry, throttling } from "../../vendor/octokit.js";

// src/forge/github/octokit.ts
const Client = Octokit.plugin(paginateRest, retry, throttling);

export { Client };