package org.ppsgate

import groovy.json.JsonOutput
import org.junit.Test

/** Tests the results of a call for outputs of ppsgate, which small programs replace. */
class GateTest extends Pipeline {

  @Test
  void 'a pass is a success, and returns the verdict with its cells'() {
    program(judged(0, 'no-regression', '🟢 ppsgate: D27401 loses nothing that matters'))

    Map outcome = ppsgate(patch: 'D27401')

    assert currentBuild.result == 'SUCCESS'
    assert outcome == [
      verdict: 'no-regression',
      exitCode: 0,
      headline: '🟢 ppsgate: D27401 loses nothing that matters',
      cells: [
        [testbed: 'hp-t540', name: 'forwarding inet4', verdict: 'no-regression', change: -0.001, low: -0.004, high: 0.002],
        [testbed: 'hp-t540', name: 'pf-stateful inet6 64 B', verdict: 'invalid', change: null, low: null, high: null],
      ],
      report: "https://ci.example.org/job/gate/12/artifact/${outcome.directory}/report/index.html",
      directory: workDirectories()[0],
    ]
  }

  @Test
  void 'a regression fails the build with the headline, and is published all the same'() {
    program(judged(1, 'regression', '🔴 ppsgate: D27401 loses 10.4 % (forwarding inet4)'))

    assert failureOf(patch: 'D27401').message == '🔴 ppsgate: D27401 loses 10.4 % (forwarding inet4)'

    String directory = workDirectories()[0]
    assert currentBuild.description == '🔴 ppsgate: D27401 loses 10.4 % (forwarding inet4)'
    assert published.archiveArtifacts*.artifacts == ["${directory}/**"]
    assert published.junit*.testResults == ["${directory}/**/report/junit.xml"]
    assert published.junit*.skipMarkingBuildUnstable == [true]
    assert published.publishHTML*.target*.reportFiles == ["${directory}/report/index.html"]
    assert published.addShortText == [[text: 'regression']]
  }

  @Test
  void 'an inconclusive gate is unstable'() {
    program(judged(3, 'inconclusive', '🟡 ppsgate: D27401 may lose 2 % or not'))

    assert ppsgate(patch: 'D27401').verdict == 'inconclusive'
    assert currentBuild.result == 'UNSTABLE'
  }

  @Test
  void 'an inconclusive gate fails the build if so configured'() {
    program(judged(3, 'inconclusive', '🟡 ppsgate: D27401 may lose 2 % or not'))

    assert failureOf(patch: 'D27401', undecided: 'failure').message == '🟡 ppsgate: D27401 may lose 2 % or not'
  }

  @Test
  void 'a patch that does not boot has a verdict without cells'() {
    program(saying('hp-t540', [kind: 'boot-failed', message: 'no answer'], '🔴 ppsgate: D27401 does not boot') + 'exit 1')

    assert failureOf(patch: 'D27401').message == '🔴 ppsgate: D27401 does not boot'
    assert published.addShortText == [[text: 'boot-failed']]
  }

  @Test
  void 'wrong usage and a failing lab show the sentence of the program'() {
    [2, 4].each { exitCode ->
      program("echo 'trial 1 of at most 40' >&2; echo 'ppsgate: ppsgate.yml:3: margin: expected a percentage.' >&2; exit ${exitCode}")

      assert failureOf(patch: 'D27401').message == 'ppsgate: ppsgate.yml:3: margin: expected a percentage.'
      assert currentBuild.description == null
    }
  }

  @Test
  void 'an error of several lines is shown whole, without control characters, up to a limit'() {
    program("printf 'ppsgate: two things:\\n  one\\033[2J\\n  two\\n' >&2; exit 2")
    assert failureOf(patch: 'D27401').message == 'ppsgate: two things:\n  one[2J\n  two'

    program("printf 'ppsgate: %05000d\\n' 0 >&2; exit 4")
    assert failureOf(patch: 'D27401').message.length() < 1100
  }

  @Test
  void 'an end without a message refers to the console'() {
    program('exit 7')

    assert failureOf(patch: 'D27401').message == 'ppsgate: ended with exit code 7; see the console for the reason.'
  }

  @Test
  void 'a gate that someone else cancelled makes the build an aborted one'() {
    program("echo 'ppsgate: cancelled, cleaning up …' >&2; exit 130")

    assert failureOf(patch: 'D27401').message == 'ppsgate: cancelled, cleaning up …'
    assert currentBuild.result == 'ABORTED'
  }

  @Test
  void 'of several testbeds the worst gives the verdict, and all show their cells and headlines'() {
    program(
      saying('hp-t540', judgement('no-regression'), '🟢 ppsgate: D27401 loses nothing', 'hp-t540') +
      saying('epyc', judgement('regression'), '🔴 ppsgate: D27401 loses 9 %', 'epyc') +
      'exit 1'
    )

    assert failureOf(patch: 'D27401', each: ['hp-t540', 'epyc']).message ==
      '🔴 ppsgate: D27401 loses 9 % · 🟢 ppsgate: D27401 loses nothing'
    assert published.addShortText == [[text: 'regression']]
    String directory = workDirectories()[0]
    assert published.publishHTML*.target*.reportFiles ==
      ["${directory}/epyc/report/index.html,${directory}/hp-t540/report/index.html"]
  }

  @Test
  void 'a patch that changes nothing that is installed is a success, behind what was measured elsewhere'() {
    program(saying('hp-t540', [kind: 'unchanged'], '⚪ ppsgate: D27401 changes nothing that the testbed installs'))
    assert ppsgate(patch: 'D27401').verdict == 'unchanged'
    assert currentBuild.result == 'SUCCESS'

    program(
      saying('epyc', [kind: 'unchanged'], '⚪ ppsgate: D27402 changes nothing that the testbed installs', 'epyc') +
      saying('hp-t540', judgement('no-regression'), '🟢 ppsgate: D27402 loses nothing', 'hp-t540')
    )
    assert ppsgate(patch: 'D27402', each: ['epyc', 'hp-t540']).verdict == 'no-regression'
  }

  @Test
  void 'several calls of one build have work directories of their own, and describe it together'() {
    program(judged(0, 'no-regression', 'the one'))
    ppsgate(patch: 'D27401')
    program(judged(0, 'improvement', 'the other'))
    ppsgate(patch: 'D27402')

    assert workDirectories().size() == 2
    assert currentBuild.description == 'the one · the other'
  }

  @Test
  void 'plugins that are not there are done without'() {
    missingPlugins.addAll(['junit', 'publishHTML', 'addShortText'])
    program(judged(0, 'no-regression', '🟢'))

    assert ppsgate(patch: 'D27401').verdict == 'no-regression'
    assert !console.contains('could not')
  }

  @Test
  void 'a failed publication changes no verdict'() {
    step('archiveArtifacts', [Map]) { throw new IOException('the disk of the controller is full') }
    program(judged(1, 'regression', '🔴 ppsgate: D27401 loses 9 %'))

    assert failureOf(patch: 'D27401').message == '🔴 ppsgate: D27401 loses 9 %'
    assert console.contains('ppsgate: could not archive the work directory: the disk of the controller is full')
    assert published.junit.size() == 1
  }

  @Test
  void 'a call without the path of ppsgate fails with the settings that give it'() {
    binding.getVariable('env').remove('PPSGATE_HOME')

    assert failureOf(patch: 'D27401').message ==
      'ppsgate: its location on this agent is unknown: set `home`, or PPSGATE_HOME of the agent.'
  }

  @Test
  void 'an agent without ppsgate fails with that reason'() {
    assert failureOf(patch: 'D27401', home: '/nowhere').message ==
      'ppsgate: there is no /nowhere/bin/ppsgate on this agent: set `home`, or PPSGATE_HOME of the agent, to where ppsgate lies.'
  }

  @Test
  void 'an agent without Node 24 fails with the message of the launcher'() {
    takeRealLauncher()
    agentEnvironment.PATH = onlyPrograms('sh', 'dirname', 'readlink', 'mkdir', 'tee', 'cat', 'rm')

    String message = failureOf(patch: 'D27401').message
    assert message.startsWith('ppsgate: no Node 24 or later found: run \'npm ci\' in ')
    assert message.endsWith('or name one with PPSGATE_NODE=/path/to/node.')
  }

  @Test
  void 'the Node of the tool configuration is the one that runs it'() {
    takeRealLauncher()
    agentEnvironment.PATH = onlyPrograms('sh', 'dirname', 'readlink', 'mkdir', 'tee', 'cat', 'rm')
    tools.node24 = folder.newFolder('tool').path
    executable(new File(tools.node24, 'bin/node'), '[ "$1" = --version ] && echo v24.1.0 && exit; echo "ppsgate: it was me" >&2; exit 4')

    assert failureOf(patch: 'D27401', nodejs: 'node24').message == 'ppsgate: it was me'
    assert failureOf(patch: 'D27401', nodejs: 'node26').message == 'No tool named node26 found'
  }

  @Test
  void 'a bisection returns the commits that it names'() {
    Map culprit = [kind: 'culprit', revision: 1]
    program(bisecting(culprit, 'bbb costs 20 %'))
    Map outcome = ppsgate(command: 'bisect', good: 'v1', bad: 'v2')
    assert outcome.subMap(['verdict', 'exitCode', 'headline', 'cells', 'commits']) ==
      [verdict: 'culprit', exitCode: 0, headline: 'bbb costs 20 %', cells: [], commits: ['bbb']]
    assert published.addShortText == [[text: 'culprit']]

    program(bisecting([kind: 'several', found: [culprit, [kind: 'group', after: 1, last: 3]]], '2 changes'))
    assert ppsgate(command: 'bisect', good: 'v1', bad: 'v2').commits == ['bbb', 'ccc', 'ddd']
  }

  @Test
  void 'an inconclusive bisection names no commit, and is unstable'() {
    program(bisecting([kind: 'not-reproduced'], 'good and bad hardly differ') + 'exit 3')
    assert ppsgate(command: 'bisect', good: 'v1', bad: 'v2').commits == []
    assert currentBuild.result == 'UNSTABLE'
  }

  /** A script that names commits and writes a result, like `ppsgate bisect`. */
  protected static String bisecting(Map answer, String headline) {
    List revisions = ['aaa', 'bbb', 'ccc', 'ddd'].collect { [commit: it] }
    return """
      [ "\$1" = bisect ] || exit 0
      mkdir -p "\$PPSGATE_DIRECTORY/report"
      cat >"\$PPSGATE_DIRECTORY/result.json" <<'END'
${JsonOutput.toJson(kind: 'bisect', answer: answer, revisions: revisions)}
END
      echo '${headline}'
      echo "Report: \$PPSGATE_DIRECTORY/report/index.html"
    """
  }

  protected void takeRealLauncher() {
    program('')
    new File(home, 'bin/ppsgate').text = new File('../bin/ppsgate').text
  }

  protected static String judged(int exitCode, String verdict, String headline) {
    return saying('hp-t540', judgement(verdict), headline) + "exit ${exitCode}"
  }

  protected static Map judgement(String verdict) {
    return [kind: 'judged', verdict: verdict, cells: [
      [
        cell: [scenario: 'forwarding', family: 'inet4'],
        verdict: [kind: verdict],
        comparisons: [[metric: 'pps', interval: [change: -0.001, low: -0.004, high: 0.002]]],
      ],
      [
        cell: [scenario: 'pf-stateful', family: 'inet6', frameBytes: 64],
        verdict: [kind: 'invalid', reason: 'too few runs count'],
        comparisons: [],
      ],
    ]]
  }

  /** A script that prints a verdict and writes a result, like `ppsgate gate`. */
  protected static String saying(String testbed, Map outcome, String headline, String folder = '.') {
    String place = folder == '.' ? '$PPSGATE_DIRECTORY' : "\$PPSGATE_DIRECTORY/${folder}"
    return """
      [ "\$1" = gate ] || exit 0
      mkdir -p "${place}/report"
      cat >"${place}/result.json" <<'END'
${JsonOutput.toJson(testbed: [name: testbed], outcome: outcome)}
END
      echo '${headline}'
      echo "Report: ${place}/report/index.html"
    """
  }

}
