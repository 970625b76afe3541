package org.ppsgate

import static org.junit.Assume.assumeTrue

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
  void 'a patch that loses nothing passes, by keys that only the agent of the call has'() {
    openLaboratory()
    takeKeysFromConfiguration()

    Map outcome = ppsgate(
      patch: 'main..patch',
      config: "${lab}/ppsgate.yml",
      repository: "${lab}/repository",
      baseKernel: "${lab}/base.tar",
      patchedKernel: "${lab}/patched.tar",
      maxRuns: 3,
      home: home.path,
      sshCredentials: 'lab',
    )

    assert outcome.verdict == 'no-regression'
    assert outcome.cells*.subMap('testbed', 'name', 'verdict') ==
      [[testbed: 'shelf', name: 'forwarding inet4', verdict: 'no-regression']]
    assert outcome.cells[0].low <= outcome.cells[0].change
    assert currentBuild.description == outcome.headline
    ['junit.xml', 'index.html'].each { assert new File(workspace, "${outcome.directory}/report/${it}").file }
  }

  protected void openLaboratory() {
    lab = folder.newFolder('lab')
    List<String> command = [node().path, LABORATORY.path, lab.path, '--patched-ratio', '1']
    laboratory = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    assert new BufferedReader(new InputStreamReader(laboratory.inputStream)).readLine() == 'ready'
  }

  /** Both machines of the lab have the same key. */
  protected void takeKeysFromConfiguration() {
    credentials.lab = [key: lab.listFiles().find { it.name.endsWith('.key') }.text]
    File configuration = new File(lab, 'ppsgate.yml')
    configuration.text = configuration.readLines().findAll { !it.contains('key: ') }.join('\n')
  }

  static File node() {
    return new File(PROJECT, 'node_modules/.bin/node')
  }

}
