// The parts of octokit that are used, loaded where GitHub is asked something.
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';

export const Client = Octokit.plugin(paginateRest, retry, throttling);
