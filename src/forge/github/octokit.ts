// Bundles the parts of octokit in use; imported by the first request to GitHub.
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';

export const Client = Octokit.plugin(paginateRest, retry, throttling);
