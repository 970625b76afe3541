// `ppsgate(patch: 'D27401', …)`: judges a patch from an agent, or bisects commits, and shows the outcome in the build.
// See ppsgate.txt.
import org.ppsgate.Outcome
import org.ppsgate.Parameters

/** Returns the map that ppsgate.txt describes. Throws for a patch at fault, and if there is no verdict. */
Map call(Map asked = [:]) {
  String table = libraryResource('org/ppsgate/parameters.json')
  refuse(Parameters.problem(table, asked))
  String home = asked.home ?: env.PPSGATE_HOME
  refuse(home ? null : 'its location on this agent is unknown: set `home`, or PPSGATE_HOME of the agent.')

  String directory = "ppsgate-${env.BUILD_NUMBER}-${UUID.randomUUID().toString().substring(0, 8)}"
  Map outcome = [:]
  String command = Parameters.commandOf(asked)
  stage(['ppsgate', command == 'gate' ? '' : command, asked.patch ?: ''].findAll().join(' ')) {
    List place = ["PPSGATE_HOME=${home}", "PPSGATE_COMMAND=${command}", "PPSGATE_DIRECTORY=${directory}"]
    if (asked.nodejs) {
      place << "PPSGATE_NODE=${tool(asked.nodejs)}/bin/node"
    }
    try {
      int exitCode = judge(asked, table, place)
      outcome = readOutcome(exitCode, directory)
    } finally {
      giveBack(place)
      publish(outcome, directory)
    }
    conclude(outcome, asked.undecided == 'failure')
  }
  return outcome.subMap(['verdict', 'exitCode', 'headline', 'cells', 'commits', 'report', 'directory'])
}

void refuse(String problem) {
  if (problem) {
    error("ppsgate: ${problem}")
  }
}

/** Returns the exit code; throws if Jenkins ends the command. */
int judge(Map asked, String table, List place) {
  Map parameters = asked.answer.toString() == 'true' ? [details: env.BUILD_URL] + asked : asked
  List variables = place + ["PPSGATE_WORDS=${Parameters.words(table, parameters).join('\n')}"]
  return withSecrets(asked) {
    withEnv(variables) {
      sh(
        script: libraryResource('org/ppsgate/gate.sh'),
        label: "ppsgate ${Parameters.commandOf(asked)}",
        encoding: 'UTF-8',
        returnStatus: true
      )
    }
  }
}

def withSecrets(Map asked, Closure work) {
  List secrets = []
  if (asked.sshCredentials) {
    secrets << sshUserPrivateKey(
      credentialsId: asked.sshCredentials,
      keyFileVariable: 'PPSGATE_SSH_KEY',
      passphraseVariable: 'PPSGATE_SSH_PASSPHRASE'
    )
  }
  if (asked.conduitCredentials) {
    secrets << string(credentialsId: asked.conduitCredentials, variable: 'PPSGATE_CONDUIT_TOKEN')
  }
  if (asked.bmcCredentials) {
    secrets << string(credentialsId: asked.bmcCredentials, variable: 'PPSGATE_BMC_PASSWORD')
  }
  return secrets ? withCredentials(secrets, work) : work()
}

Map readOutcome(int exitCode, String directory) {
  List gates = Outcome.gatesIn(readFile(file: "${directory}/jenkins/verdict.txt", encoding: 'UTF-8'))
  // By index: an iterator cannot be saved while a file is read.
  for (int i = 0; i < gates.size(); i++) {
    gates[i] = Outcome.judged(gates[i], readFile(file: "${gates[i].directory}/result.json", encoding: 'UTF-8'))
  }
  String console = readFile(file: "${directory}/jenkins/console.log", encoding: 'UTF-8')
  Map outcome = Outcome.of(exitCode, gates, console)
  return outcome + [directory: directory, report: outcome.reports ? "${env.BUILD_URL}artifact/${outcome.reports[0]}" : null]
}

/** Runs after any outcome. If the agent is gone, the lease expires instead. */
void giveBack(List place) {
  try {
    timeout(time: 4, unit: 'MINUTES') {
      withEnv(place) {
        sh(script: libraryResource('org/ppsgate/release.sh'), label: 'ppsgate release', encoding: 'UTF-8')
      }
    }
  } catch (Exception e) {
    String why = "no testbed can be released from here (${e.message})"
    echo "ppsgate: ${why}; a testbed that is still held becomes free when its lease expires."
  }
}

void publish(Map outcome, String directory) {
  wherePossible('archive the work directory') {
    archiveArtifacts(artifacts: "${directory}/**", allowEmptyArchive: true)
  }
  wherePossible('publish the cells as tests') {
    junit(testResults: "${directory}/**/report/junit.xml", allowEmptyResults: true, skipMarkingBuildUnstable: true)
  }
  if (!outcome.verdict) {
    return
  }
  wherePossible('publish the report') {
    publishHTML(target: [
      reportName: 'ppsgate',
      reportDir: '.',
      reportFiles: outcome.reports.join(','),
      includes: "${directory}/**/report/**",
      keepAll: true,
      allowMissing: true,
      alwaysLinkToLastBuild: true,
    ])
  }
  wherePossible('describe the build') {
    String before = currentBuild.description
    currentBuild.description = before ? "${before} · ${outcome.headline}" : outcome.headline
  }
  wherePossible('label the build') {
    addShortText(text: outcome.verdict)
  }
}

/** Runs a step that cannot change the verdict; a step whose plugin is missing is skipped silently. */
void wherePossible(String task, Closure work) {
  try {
    work()
  } catch (NoSuchMethodError missing) {
    return
  } catch (Exception e) {
    echo "ppsgate: could not ${task}: ${e.message}"
  }
}

void conclude(Map outcome, boolean undecidedFails) {
  String unknown = "ppsgate: ended with exit code ${outcome.exitCode}; see the console for the reason."
  String sentence = outcome.complaint ?: outcome.headline ?: unknown
  switch (outcome.exitCode) {
    case 0:
      echo sentence
      break
    case 3:
      undecidedFails ? error(sentence) : unstable(sentence)
      break
    case [130, 143]:
      currentBuild.result = 'ABORTED'
      error(sentence)
      break
    default:
      error(sentence)
  }
}
