package org.ppsgate

import org.junit.Before
import org.junit.Test

/** Tests parameters from a pipeline to ppsgate, which a program that records its arguments replaces. */
class ParametersTest extends Pipeline {

  @Before
  void writeArgumentsDown() {
    program('printf "%s\\0" "$@" >arguments; exit 3')
  }

  @Test
  void 'each parameter is one word, and an absent one stays absent'() {
    assert argumentsOf(patch: 'D27401', scenarios: ['pf-stateful', 'forwarding'], maxRuns: 40, margin: null, testbed: '') == [
      '--patch=D27401',
      '--config=ppsgate.yml',
      '--scenarios=pf-stateful,forwarding',
      '--max-runs=40',
    ]
  }

  @Test
  void 'without any parameter there are the defaults of the action'() {
    assert argumentsOf([:]) == ['--config=ppsgate.yml']
  }

  @Test
  void 'a list may be written with commas, too, and a text may be put together'() {
    String scenario = 'forwarding'
    assert argumentsOf(config: 'c.yml', scenarios: "${scenario},pf-stateful", families: 'inet4') ==
      ['--config=c.yml', '--scenarios=forwarding,pf-stateful', '--families=inet4']
  }

  @Test
  void 'an answer links the build, unless other details are given'() {
    assert argumentsOf(answer: true, run: 'key') ==
      ['--config=ppsgate.yml', '--answer', '--run=key', '--details=https://ci.example.org/job/gate/12/']
    assert argumentsOf(answer: true, details: 'https://lab.example.org/') ==
      ['--config=ppsgate.yml', '--answer', '--details=https://lab.example.org/']
    assert argumentsOf(answer: false) == ['--config=ppsgate.yml']
  }

  @Test
  void 'no matter what a value holds, it stays one word and is never shell'() {
    credentials.token = 'secret of the bot'
    // A patch may contain files of any name.
    new File(workspace, '--patch=theirs').text = ''
    [
      '$(touch pwned)', '`touch pwned`', '; touch pwned', "' && touch pwned '", '" || touch pwned "',
      '--help', '-x', 'two words', '*', '~', '\\', '$PPSGATE_CONDUIT_TOKEN', '${PPSGATE_CONDUIT_TOKEN}', '%s', 'Größe',
    ].each { hostile ->
      assert argumentsOf(patch: hostile, conduitCredentials: 'token') == ["--patch=${hostile}", '--config=ppsgate.yml']
    }
    assert !new File(workspace, 'pwned').exists()
  }

  @Test
  void 'a line break would begin another word, and is refused'() {
    assert refusalOf(patch: 'D27401\n--config=theirs.yml') == 'ppsgate: patch contains a line break or another control character.'
    assert refusalOf(scenarios: ['forwarding', 'pf\r']) == 'ppsgate: scenarios contains a line break or another control character.'
  }

  @Test
  void 'a bisection gets its parameters, under its own names'() {
    assert argumentsOf(command: 'bisect', good: 'v1', bad: 'v2', fixUp: ['a', 'b:c'], scenarios: ['forwarding'],
      families: 'inet4', maxBoots: 40, verifyRevert: true) == [
      '--good=v1',
      '--bad=v2',
      '--fix-up=a,b:c',
      '--config=ppsgate.yml',
      '--scenario=forwarding',
      '--family=inet4',
      '--max-boots=40',
      '--verify-revert',
    ]
    assert argumentsOf(command: '', patch: 'D27401', good: '', margin: null) == ['--patch=D27401', '--config=ppsgate.yml']
  }

  @Test
  void 'a gate is told nothing that is for a bisection alone, and a bisection nothing that is for a gate'() {
    assert refusalOf(patch: 'D27401', good: 'v1') == 'ppsgate: good is not a parameter of a gate.'
    assert refusalOf(command: 'bisect', margin: '2%') == 'ppsgate: margin is not a parameter of a bisection.'
    assert refusalOf(command: 'bisekt') == 'ppsgate: command is gate or bisect, not "bisekt".'
  }

  @Test
  void 'a parameter that there is not is refused, with the nearest that there is'() {
    assert refusalOf(max_runs: 40) == 'ppsgate: there is no parameter "max_runs"; did you mean maxRuns?'
    assert refusalOf(senarios: []) == 'ppsgate: there is no parameter "senarios"; did you mean scenarios?'
    assert refusalOf(sshCredential: 'key') == 'ppsgate: there is no parameter "sshCredential"; did you mean sshCredentials?'
  }

  @Test
  void 'a value of the wrong kind is refused in one sentence'() {
    assert refusalOf(patch: ['D27401']) == 'ppsgate: patch is text, not "[D27401]".'
    assert refusalOf(scenarios: [a: 1]) == 'ppsgate: scenarios is text or a list of texts, not "[a:1]".'
    assert refusalOf(scenarios: [['a']]) == 'ppsgate: scenarios is text or a list of texts, not "[[a]]".'
    assert refusalOf(answer: 'perhaps') == 'ppsgate: answer is true or false, not "perhaps".'
    assert refusalOf(profile: true) == 'ppsgate: profile is text, not "true".'
    assert refusalOf(home: [7, 8, 9]) == 'ppsgate: home is text, not "[7, 8, 9]".'
    assert refusalOf(undecided: 'neutral') == 'ppsgate: undecided is unstable or failure, not "neutral".'
  }

  /** Arguments of the program, after its command and its work directory. */
  protected List<String> argumentsOf(Map parameters) {
    String directory = ppsgate(parameters).directory
    List<String> words = new File(workspace, 'arguments').getText('UTF-8').split('\0') as List
    assert words.take(2) == [parameters.command ?: 'gate', "--directory=${directory}"]
    return words.drop(2)
  }

  protected String refusalOf(Map parameters) {
    String refusal = failureOf(parameters).message
    assert !new File(workspace, 'arguments').exists()
    return refusal
  }

}
