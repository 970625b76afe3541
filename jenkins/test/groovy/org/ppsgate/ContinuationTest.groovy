package org.ppsgate

import com.cloudbees.groovy.cps.Continuable
import com.cloudbees.groovy.cps.CpsTransformer
import java.lang.reflect.InvocationTargetException
import org.codehaus.groovy.control.CompilerConfiguration
import org.junit.Test

/**
 * Runs the library like Jenkins: rewritten into continuations, which are saved at each step. Each step here restarts the
 * controller: the pipeline is written to disk, and the copy that is read back continues.
 */
class ContinuationTest {

  static final String STEPS = """
    import com.cloudbees.groovy.cps.Continuable

    abstract class Steps extends com.cloudbees.groovy.cps.SerializableScript {
      def stage(String name, Closure body) { body() }
      def timeout(Map limit, Closure body) { body() }
      def withEnv(List variables, Closure body) { body() }
      def withCredentials(List bindings, Closure body) { body() }
      ${
        [
          'libraryResource', 'sh', 'readFile', 'tool', 'string', 'sshUserPrivateKey', 'echo', 'error', 'unstable',
          'archiveArtifacts', 'junit', 'publishHTML', 'addShortText',
        ].collect { "def ${it}(given) { Continuable.suspend(['${it}', given]) }" }.join('\n')
      }
    }
  """

  final Map<String, Closure> answers = [
    libraryResource: { String path -> new File('resources', path).text },
    tool: { String name -> "/tools/${name}".toString() },
    sh: { Map given -> given.returnStatus ? 0 : null },
    readFile: { Map given -> given.file.endsWith('result.json') ? RESULT : SAID },
    error: { String text -> throw new Pipeline.StepFailed(text) },
  ]
  final List<String> steps = []

  static final String SAID = '🟢 ppsgate: D27401 loses nothing\nReport: work/report/index.html\n'
  static final String RESULT = '''{
    "testbed": { "name": "hp-t540" },
    "outcome": { "kind": "judged", "verdict": "no-regression", "cells": [{
      "cell": { "scenario": "forwarding", "family": "inet4" },
      "verdict": { "kind": "no-regression" },
      "comparisons": [{ "interval": { "change": -0.001, "low": -0.004, "high": 0.002 } }]
    }] }
  }'''

  @Test
  void 'a gate outlives a restart of the controller at any of its steps'() {
    Map outcome = runThroughRestarts()

    assert outcome.verdict == 'no-regression'
    assert outcome.cells*.name == ['forwarding inet4']
    assert steps - 'libraryResource' == [
      'tool', 'sshUserPrivateKey', 'string', 'sh', 'readFile', 'readFile', 'readFile', 'sh',
      'archiveArtifacts', 'junit', 'publishHTML', 'addShortText', 'echo',
    ]
  }

  @Test
  void 'a failing call survives restarts, with its headline'() {
    answers.sh = { Map given -> given.returnStatus ? 1 : null }

    assert failureThroughRestarts().message == '🟢 ppsgate: D27401 loses nothing'
    assert steps.takeRight(2) == ['addShortText', 'error']
  }

  @Test
  void 'the clean-up after an abort survives restarts, and the pipeline continues'() {
    answers.sh = { Map given ->
      if (given.returnStatus) {
        throw new Pipeline.Interrupted()
      }
    }

    assert failureThroughRestarts() instanceof Pipeline.Interrupted
    assert (steps - 'libraryResource').drop(3) == ['sh', 'sh', 'archiveArtifacts', 'junit']
  }

  @Test
  void 'a step that Jenkins does not have, and one that fails, are outlived as well'() {
    answers.publishHTML = { throw new NoSuchMethodError('No such DSL method') }
    answers.junit = { throw new IOException('the disk of the controller is full') }

    assert runThroughRestarts().verdict == 'no-regression'
    assert steps.takeRight(5) == ['junit', 'echo', 'publishHTML', 'addShortText', 'echo']
  }

  Throwable failureThroughRestarts() {
    try {
      runThroughRestarts()
    } catch (InvocationTargetException e) {
      return e.cause
    }
    throw new AssertionError('the pipeline goes on')
  }

  /** Returns the result of the call. */
  Object runThroughRestarts() {
    GroovyShell shell = new GroovyShell(ContinuationTest.classLoader, new Binding(), transforming())
    shell.classLoader.parseClass(STEPS, 'Steps.groovy')
    ['Parameters', 'Outcome'].each { shell.classLoader.parseClass(new File("src/org/ppsgate/${it}.groovy")) }
    shell.setVariable('env', [BUILD_NUMBER: '12', BUILD_URL: 'https://ci.example.org/12/', PPSGATE_HOME: '/opt/ppsgate'])
    shell.setVariable('currentBuild', [description: null])
    shell.setVariable('ppsgate', shell.parse(new File('vars/ppsgate.groovy')))
    Continuable pipeline = new Continuable(shell.parse(
      "ppsgate.call(patch: 'D27401', nodejs: 'node24', sshCredentials: 'key', conduitCredentials: 'token')", 'Jenkinsfile'
    ))

    Object said = pipeline.run(null)
    while (pipeline.resumable) {
      pipeline = restarted(pipeline, shell.classLoader)
      said = goOn(pipeline, said as List)
    }
    return said
  }

  private Object goOn(Continuable pipeline, List step) {
    steps << step[0]
    Object answer
    try {
      answer = answers[step[0]]?.call(step[1])
    } catch (Exception | NoSuchMethodError e) {
      return pipeline.runByThrow(e)
    }
    return pipeline.run(answer)
  }

  private static CompilerConfiguration transforming() {
    CompilerConfiguration configuration = new CompilerConfiguration()
    configuration.addCompilationCustomizers(new CpsTransformer())
    configuration.scriptBaseClass = 'Steps'
    return configuration
  }

  private static Continuable restarted(Continuable pipeline, ClassLoader loader) {
    ByteArrayOutputStream disk = new ByteArrayOutputStream()
    new ObjectOutputStream(disk).writeObject(pipeline)
    return new ByteArrayInputStream(disk.toByteArray()).withObjectInputStream(loader) { it.readObject() } as Continuable
  }

}
