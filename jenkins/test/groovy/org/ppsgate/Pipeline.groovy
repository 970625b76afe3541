package org.ppsgate

import com.lesfurets.jenkins.unit.BasePipelineTest
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.TimeUnit
import org.junit.Before
import org.junit.Rule
import org.junit.rules.TemporaryFolder

/**
 * A Jenkins for tests, with one agent. Runs shell scripts with the environment of withEnv and withCredentials, and keeps
 * everything published. An abort acts like Jenkins' DurableTaskStep and ProcessTree.
 */
abstract class Pipeline extends BasePipelineTest {

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder()

  final Map<String, String> agentEnvironment = [:]
  final Map<String, Object> credentials = [:]
  final Map<String, String> tools = [:]
  final Set<String> missingPlugins = []
  final Map<String, List> published = [:].withDefault { [] }
  final StringBuffer console = new StringBuffer()
  final Map currentBuild = [result: 'SUCCESS', description: null]
  /** Aborts the process at a line of the console; Jenkins then waits this long for it. */
  String abortAt
  long patienceMilliseconds = 20_000
  boolean agentIsGone

  protected final String cookie = "durable-${UUID.randomUUID()}"
  protected final Map<String, String> environment = [:]
  File workspace
  File home

  @Override
  @Before
  void setUp() {
    super.setUp()
    workspace = folder.newFolder('workspace')
    home = folder.newFolder('home')
    agentEnvironment.PPSGATE_HOME = home.path
    binding.setVariable('env', [BUILD_NUMBER: '12', BUILD_URL: 'https://ci.example.org/job/gate/12/'] + agentEnvironment)
    binding.setVariable('currentBuild', currentBuild)
    defineBlocks()
    defineSteps()
    ['archiveArtifacts', 'junit', 'publishHTML', 'addShortText'].each { name ->
      step(name, [Map]) { Map given ->
        requireAgent()
        published[name] << given
      }
    }
  }

  /** Calls the library like a Jenkinsfile. */
  Map ppsgate(Map parameters) {
    return loadScript('vars/ppsgate.groovy').call(parameters) as Map
  }

  Throwable failureOf(Map parameters) {
    try {
      ppsgate(parameters)
    } catch (Exception e) {
      return e
    }
    throw new AssertionError("the build goes on, and says:\n${console}")
  }

  /** Replaces ppsgate by a shell script. */
  void program(String script) {
    executable(new File(home, 'bin/ppsgate'), script)
  }

  static void executable(File file, String script) {
    file.parentFile.mkdirs()
    file.text = "#!/bin/sh\n${script}\n"
    file.executable = true
  }

  /** A PATH with only these programs. */
  String onlyPrograms(String... names) {
    File programs = folder.newFolder()
    names.each { name ->
      File found = System.getenv('PATH').split(':').collect { new File(it, name) }.find { it.canExecute() }
      Files.createSymbolicLink(new File(programs, name).toPath(), found.toPath())
    }
    return programs.path
  }

  /** Names of the work directories that calls have created. */
  List<String> workDirectories() {
    return workspace.list().findAll { it.startsWith('ppsgate-12-') }
  }

  protected void defineBlocks() {
    step('stage', [String, Closure]) { String name, Closure body -> body() }
    step('timeout', [Map, Closure]) { Map limit, Closure body -> body() }
    step('withEnv', [List, Closure]) { List variables, Closure body ->
      Map given = variables.collectEntries { it.toString().split('=', 2) as List }
      within(given, body)
    }
    step('string', [Map]) { Map binding -> binding }
    step('sshUserPrivateKey', [Map]) { Map binding -> binding }
    step('withCredentials', [List, Closure]) { List bindings, Closure body ->
      File secrets = new File(folder.root, 'secrets')
      try {
        within(bindings.collectEntries { bind(it as Map, secrets) }, body)
      } finally {
        secrets.deleteDir()
      }
    }
  }

  protected void defineSteps() {
    step('libraryResource', [String]) { String path -> new File('resources', path).text }
    step('sh', [Map]) { Map given -> run(given) }
    step('readFile', [Map]) { Map given ->
      requireAgent()
      new File(workspace, given.file as String).getText(given.encoding as String)
    }
    step('tool', [String]) { String name -> tools[name] ?: fail("No tool named ${name} found") }
    step('echo', [String]) { String text -> console << text << '\n' }
    step('error', [String]) { String text -> fail(text) }
    step('unstable', [String]) { String text ->
      console << text << '\n'
      currentBuild.result = 'UNSTABLE'
    }
  }

  protected void step(String name, List<Class> parameters, Closure body) {
    helper.registerAllowedMethod(name, parameters) { Object... given ->
      if (name in missingPlugins) {
        throw new NoSuchMethodError("No such DSL method '${name}' found among steps [echo, error, sh]")
      }
      body(*given)
    }
  }

  protected static Object fail(String text) {
    throw new StepFailed(text)
  }

  protected void requireAgent() {
    if (agentIsGone) {
      throw new IOException('Unable to create live FilePath for lab-agent')
    }
  }

  protected Object within(Map<String, String> variables, Closure body) {
    Map<String, String> before = new LinkedHashMap(environment)
    environment.putAll(variables)
    try {
      return body()
    } finally {
      environment.clear()
      environment.putAll(before)
    }
  }

  protected Map<String, String> bind(Map binding, File secrets) {
    Object secret = credentials[binding.credentialsId]
    if (secret == null) {
      fail("Could not find credentials entry with ID '${binding.credentialsId}'")
    }
    if (binding.variable) {
      return [(binding.variable): secret]
    }
    secrets.mkdirs()
    File key = new File(secrets, "ssh-key-${binding.keyFileVariable}")
    key.text = secret.key
    Files.setPosixFilePermissions(key.toPath(), PosixFilePermissions.fromString('r--------'))
    return [(binding.keyFileVariable): key.path, (binding.passphraseVariable): secret.passphrase ?: '']
  }

  protected Object run(Map given) {
    requireAgent()
    File script = new File(folder.root, 'script.sh')
    script.text = given.script
    script.executable = true
    // Without its own first line, Jenkins would print each command with its values.
    assert given.script.startsWith('#!/bin/sh\n')
    ProcessBuilder builder = new ProcessBuilder(script.path).directory(workspace).redirectErrorStream(true)
    builder.environment().putAll(agentEnvironment + environment + [JENKINS_SERVER_COOKIE: cookie])
    Process process = builder.start()
    process.outputStream.close()
    boolean isAborted = false
    Thread reader = Thread.start {
      process.inputStream.eachLine('UTF-8') { line ->
        console << line << '\n'
        if (abortAt != null && line.contains(abortAt) && !isAborted) {
          isAborted = true
          interruptAll()
        }
      }
    }
    while (process.alive && !isAborted) {
      process.waitFor(20, TimeUnit.MILLISECONDS)
    }
    if (isAborted) {
      process.waitFor(patienceMilliseconds, TimeUnit.MILLISECONDS)
      abortAt = null
      throw new Interrupted()
    }
    reader.join()
    int exitCode = process.exitValue()
    if (!given.returnStatus && exitCode != 0) {
      fail("script returned exit code ${exitCode}")
    }
    return exitCode
  }

  /** Interrupts every process with the cookie of this agent's scripts, like ProcessTree. */
  protected void interruptAll() {
    byte[] mark = "JENKINS_SERVER_COOKIE=${cookie}".bytes
    List<String> found = new File('/proc').list().findAll { it ==~ /\d+/ && hasMark(it, mark) }
    (['kill', '-TERM'] + found).execute().waitFor()
  }

  protected static boolean hasMark(String pid, byte[] mark) {
    try {
      return new String(new File("/proc/${pid}/environ").bytes, 'ISO-8859-1').split('\0').contains(new String(mark))
    } catch (IOException ended) {
      return false
    }
  }

  /** Jenkins' AbortException: a message for the console, without a stack. */
  static class StepFailed extends Exception {

    StepFailed(String message) {
      super(message)
    }

  }

  /** Jenkins' FlowInterruptedException. */
  static class Interrupted extends InterruptedException {
  }

}
