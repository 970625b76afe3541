// Makes the jobs of docs/how-to/jenkins.md; for a freestyle job with the step "Process Job DSLs".

// A repository of yours with the files of jenkins/examples, as you have changed them.
String examples = 'https://git.example.org/lab/jobs.git'
String branchOfExamples = 'main'

// On GitHub, with pull-request.Jenkinsfile as ppsgate.Jenkinsfile on its branches.
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
  // Parameters and triggers stand in the Jenkinsfile: Jenkins learns them from a build.
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
            // 1: the head, merged with what is on the target branch by now.
            gitHubPullRequestDiscovery { strategyId(1) }
            // No one: the Jenkinsfile of a fork counts for nothing, anyone who its author is.
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
