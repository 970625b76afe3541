package org.ppsgate

import static org.junit.Assume.assumeTrue

import groovy.json.JsonSlurperClassic
import java.util.concurrent.TimeUnit
import org.junit.After
import org.junit.Before
import org.junit.BeforeClass
import org.junit.Test

/** Tests the library with ppsgate itself, in a FreeBSD lab that a program simulates. */
class LabTest extends Pipeline {

  static final File PROJECT = new File('..').canonicalFile
  static final File LABORATORY = new File(PROJECT, 'tests/fakes/freebsd-lab/serve.ts')

  Process laboratory
  File lab

  @BeforeClass
  static void requirePrograms() {
    assumeTrue("needs ${LABORATORY}", LABORATORY.file)
    assumeTrue("needs a Node: run 'npm ci' in ${PROJECT}", node().canExecute())
  }

  @Before
  void useRealProgram() {
    home = PROJECT
  }

  @After
  void closeLaboratory() {
    laboratory?.outputStream?.close()
    if (laboratory != null && !laboratory.waitFor(10, TimeUnit.SECONDS)) {
      laboratory.destroyForcibly()
    }
  }

  @Test
  void 'a patch that loses nothing passes, and its cells are tests that passed'() {
    openLaboratory('--patched-ratio', '1')

    Map outcome = ppsgate(gate() + [maxRuns: 3])

    assert outcome.verdict == 'no-regression'
    assert outcome.cells*.subMap('testbed', 'name', 'verdict') ==
      [[testbed: 'shelf', name: 'forwarding inet4', verdict: 'no-regression']]
    assert outcome.cells[0].low <= outcome.cells[0].change
    assert currentBuild.description == outcome.headline
    def junit = new XmlSlurper().parse(new File(workspace, "${outcome.directory}/report/junit.xml"))
    assert [junit.@tests, junit.@failures]*.toInteger() == [1, 0]
    assert new File(workspace, "${outcome.directory}/report/index.html").file
  }

  @Test
  void 'a patch that loses a tenth fails the build, by keys that only the agent of the call has'() {
    openLaboratory('--patched-ratio', '0.9')
    takeKeysFromConfiguration()

    assert failureOf(gate() + [sshCredentials: 'lab']).message ==~ /🔴 ppsgate: \w{7}\.\.\w{7} loses [\d.]+ % \(forwarding inet4\)/
    assert published.addShortText == [[text: 'regression']]
  }

  @Test
  void 'a margin too small for so few runs makes the build unstable'() {
    // Half the margin, at error rates too low for the noise of two runs to prove a loss or its absence.
    openLaboratory('--patched-ratio', '0.9995')
    Map certain = [falseAlarms: '0.1%', power: '99.9%']

    assert ppsgate(gate() + [margin: '0.1%'] + certain).verdict == 'inconclusive'
    assert currentBuild.result == 'UNSTABLE'
  }

  @Test
  void 'an abort in mid-run brings the testbed back before it ends'() {
    openLaboratory('--slow')
    takeKeysFromConfiguration()
    abortAt = 'trial 1 of'
    // Less than the DUT needs to boot base again.
    patienceMilliseconds = 1000

    assert failureOf(gate() + [sshCredentials: 'lab']) instanceof Interrupted

    assert console.contains('ppsgate: cancelled')
    def testbeds = new JsonSlurperClassic().parseText(said(['testbeds', '--config', "${lab}/ppsgate.yml".toString(), '--json']))
    assert testbeds.testbeds*.state == ['free']
    assert !new File(workspace, "${workDirectories()[0]}/lease.json").exists()
  }

  @Test
  void 'an invalid configuration is reported with its place'() {
    new File(workspace, 'ppsgate.yml').text = 'testbed: {}\n'

    assert failureOf(patch: 'main..patch', home: home.path).message.contains('ppsgate.yml:1')
  }

  protected Map gate() {
    return [
      patch: 'main..patch',
      config: "${lab}/ppsgate.yml",
      repository: "${lab}/repository",
      baseKernel: "${lab}/base.tar",
      patchedKernel: "${lab}/patched.tar",
      maxRuns: 2,
      home: home.path,
    ]
  }

  protected void openLaboratory(String... options) {
    lab = folder.newFolder('lab')
    List<String> command = [node().path, LABORATORY.path, lab.path] + (options as List)
    laboratory = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    assert new BufferedReader(new InputStreamReader(laboratory.inputStream)).readLine() == 'ready'
  }

  /** Both machines of the lab have the same key. */
  protected void takeKeysFromConfiguration() {
    credentials.lab = [key: lab.listFiles().find { it.name.endsWith('.key') }.text]
    File configuration = new File(lab, 'ppsgate.yml')
    configuration.text = configuration.readLines().findAll { !it.contains('key: ') }.join('\n')
  }

  protected String said(List<String> words) {
    return ([new File(home, 'bin/ppsgate').path] + words).execute().text
  }

  static File node() {
    return new File(PROJECT, 'node_modules/.bin/node')
  }

}
