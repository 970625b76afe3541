// Creates the jobs of docs/how-to/jenkins.md, in a freestyle job with the step "Process Job DSLs".

// Your repository with your versions of the files in jenkins/examples.
String examples = 'https://git.example.org/lab/jobs.git'
String branchOfExamples = 'main'

// Your repository on GitHub, with pull-request.Jenkinsfile as ppsgate.Jenkinsfile on its branches.
String owner = 'example'
String repositoryOfPatches = 'router'

['parameterized', 'harbormaster', 'nightly'].each { example ->
  pipelineJob("ppsgate-${example}") {
    definition {
      cpsScm {
        scm {
          git {
            remote { url(examples) }
            branch(branchOfExamples)
          }
        }
        scriptPath("${example}.Jenkinsfile")
      }
    }
  }
  // The Jenkinsfile defines parameters and triggers, which Jenkins reads in the first build.
  queue("ppsgate-${example}")
}

multibranchPipelineJob('ppsgate-pull-request') {
  branchSources {
    branchSource {
      source {
        github {
          id('ppsgate-pull-request')
          repoOwner(owner)
          repository(repositoryOfPatches)
          repositoryUrl("https://github.com/${owner}/${repositoryOfPatches}.git")
          configuredByUrl(true)
          credentialsId('ppsgate-github')
          traits {
            // 1: the head, merged with the current target branch.
            gitHubPullRequestDiscovery { strategyId(1) }
            // Uses the Jenkinsfile of no fork, for any author.
            gitHubForkDiscovery {
              strategyId(1)
              trust { gitHubTrustNobody() }
            }
          }
        }
      }
    }
  }
  factory {
    workflowBranchProjectFactory { scriptPath('ppsgate.Jenkinsfile') }
  }
}
