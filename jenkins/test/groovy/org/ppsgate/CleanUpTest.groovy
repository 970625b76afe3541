package org.ppsgate

import java.util.concurrent.TimeUnit
import org.junit.Test

/** Tests the leftovers of an interrupted call, and that secrets stay hidden. */
class CleanUpTest extends Pipeline {

  /** Prints that it runs and, once aborted, cleans up for a moment, like a gate that restores a DUT. */
  static final String CLEANS_UP = '''
    if [ "$1" = release ]; then echo "release $3" >>story; rm "$3/lease.json"; exit; fi
    trap 'sleep 0.3; echo cleaned >>story; echo "ppsgate: cancelled" >&2; exit 130' TERM
    echo '{}' >"$PPSGATE_DIRECTORY/lease.json"
    echo 'trial 1 of at most 40' >&2
    while :; do sleep 0.1; done
  '''

  @Test
  void 'an abort reaches the gate, lets it clean up, and goes on'() {
    program(CLEANS_UP)
    abortAt = 'trial 1'

    assert failureOf(patch: 'D27401') instanceof Interrupted

    assert story()[0] == 'cleaned'
    assert new File(workspace, "${workDirectories()[0]}/jenkins/exit-code").text.trim() == '130'
    assert console.contains('ppsgate: cancelled')
    assert published.archiveArtifacts.size() == 1
  }

  @Test
  void 'a gate that still cleans up when Jenkins continues delays the release of its testbed'() {
    program(CLEANS_UP)
    abortAt = 'trial 1'
    patienceMilliseconds = 0

    assert failureOf(patch: 'D27401') instanceof Interrupted

    assert story() == ['cleaned', "release ${workDirectories()[0]}"]
  }

  @Test
  void 'the testbeds of a killed gate are released'() {
    program('''
      if [ "$1" = release ]; then echo "release $3" >>story; exit; fi
      mkdir -p "$PPSGATE_DIRECTORY/hp-t540" "$PPSGATE_DIRECTORY/epyc"
      touch "$PPSGATE_DIRECTORY/hp-t540/lease.json" "$PPSGATE_DIRECTORY/epyc/lease.json"
      kill -9 $$
    ''')

    assert failureOf(patch: 'D27401').message == 'ppsgate: ended with exit code 137; see the console for the reason.'

    String directory = workDirectories()[0]
    assert story() == ["release ${directory}"]
  }

  @Test
  void 'the release runs on the same Node as the gate'() {
    tools.node24 = '/tools/node24'
    program('echo "$1 $PPSGATE_NODE" >>story; touch "$PPSGATE_DIRECTORY/lease.json"; exit 4')

    failureOf(patch: 'D27401', nodejs: 'node24')

    assert story() == ['gate /tools/node24/bin/node', 'release /tools/node24/bin/node']
  }

  @Test
  void 'a gate that released its testbed is not released again'() {
    program('echo "$1" >>story; exit 4')

    failureOf(patch: 'D27401')

    assert story() == ['gate']
  }

  @Test
  void 'an agent that vanishes leaves the lease to expire, and the build its own error'() {
    program('exit 0')
    step('readFile', [Map]) {
      agentIsGone = true
      requireAgent()
    }

    assert failureOf(patch: 'D27401').message == 'Unable to create live FilePath for lab-agent'
    assert console.contains('no testbed can be released from here (Unable to create live FilePath for lab-agent)')
    assert console.contains('a testbed that is still held becomes free when its lease expires')
  }

  @Test
  void 'the Conduit token and the password of the BMCs are in the environment of the gate, and nowhere else'() {
    credentials.bot = 'api-secret-of-the-bot'
    credentials.bmc = 'open-sesame'
    program('''
      test "$PPSGATE_CONDUIT_TOKEN" = api-secret-of-the-bot || exit 4
      test "$PPSGATE_BMC_PASSWORD" = open-sesame || exit 4
      tr "\\0" " " </proc/$$/cmdline
      exit 3
    ''')

    ppsgate(patch: 'D27401', conduitCredentials: 'bot', bmcCredentials: 'bmc')

    ['api-secret-of-the-bot', 'open-sesame'].each { secret ->
      assert !console.contains(secret)
      assert !textsLeft().contains(secret)
    }
  }

  @Test
  void 'a key of sshCredentials waits in an agent of its own, whose passphrase no one sees'() {
    String fingerprint = makeKey('lab', 'correct horse')
    program('ssh-add -l >&2; echo $SSH_AGENT_PID >agent; test -z "${PPSGATE_SSH_PASSPHRASE:-}" || echo seen >&2; exit 3')

    ppsgate(patch: 'D27401', sshCredentials: 'lab')

    assert console.contains(fingerprint)
    assert !console.contains('seen')
    assert !console.contains('correct horse')
    assert !textsLeft().contains('correct horse')
    // The signal ends it; without one it would end within 10 s, as no process needs it.
    ProcessHandle.of(new File(workspace, 'agent').text.trim() as long).ifPresent { it.onExit().get(5, TimeUnit.SECONDS) }
  }

  @Test
  void 'an abort leaves the agent to the gate until it has cleaned up'() {
    String fingerprint = makeKey('lab', '')
    program('''
      trap 'sleep 0.5; ssh-add -l >&2; exit 130' TERM
      echo 'trial 1 of at most 40' >&2
      while :; do sleep 0.1; done
    ''')
    abortAt = 'trial 1'

    assert failureOf(patch: 'D27401', sshCredentials: 'lab') instanceof Interrupted
    assert console.contains(fingerprint)
  }

  @Test
  void 'a key that cannot be loaded is reported'() {
    credentials.lab = [key: 'no key at all']
    program('echo measured >&2; exit 0')

    assert failureOf(patch: 'D27401', sshCredentials: 'lab').message ==
      'ppsgate: the key of `sshCredentials` cannot be used: see what ssh-add says above.'
    assert !console.contains('measured')
  }

  @Test
  void 'credentials that there are not keep anything from being started'() {
    program('touch started')

    assert failureOf(patch: 'D27401', conduitCredentials: 'bto').message == "Could not find credentials entry with ID 'bto'"
    assert !new File(workspace, 'started').exists()
  }

  protected List<String> story() {
    return new File(workspace, 'story').readLines()
  }

  /** Texts of all files in the workspace afterwards. */
  protected String textsLeft() {
    StringBuilder texts = new StringBuilder()
    workspace.eachFileRecurse { file -> texts << (file.file ? file.text : '') }
    return texts
  }

  /** Returns its fingerprint. */
  protected String makeKey(String id, String passphrase) {
    File key = new File(folder.root, id)
    ['ssh-keygen', '-q', '-t', 'ed25519', '-N', passphrase, '-f', key.path].execute().waitFor()
    credentials[id] = [key: key.text, passphrase: passphrase]
    return ['ssh-keygen', '-lf', key.path].execute().text.split(' ')[1]
  }

}
