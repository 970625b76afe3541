package org.ppsgate

import com.cloudbees.groovy.cps.NonCPS
import groovy.json.JsonSlurperClassic

/** Options of a gate or a bisection in a pipeline: those of parameters.json, and those for Jenkins only. */
class Parameters {

  static final List<String> OF_JENKINS =
    ['command', 'home', 'nodejs', 'sshCredentials', 'conduitCredentials', 'bmcCredentials', 'undecided']

  static final List<String> COMMANDS = ['gate', 'bisect']

  static final List<String> UNDECIDED = ['unstable', 'failure']

  /** Returns a sentence on the first unusable parameter; null if all are usable. */
  @NonCPS
  static String problem(String table, Map asked) {
    if (!(commandOf(asked) in COMMANDS)) {
      return "command is ${COMMANDS.join(' or ')}, not ${shown(asked.command)}."
    }
    Map byName = optionsIn(table).collectEntries { [it.name, it] }
    List known = (byName.keySet() as List) + OF_JENKINS
    String stranger = asked.keySet().find { !known.contains(it as String) }
    if (stranger != null) {
      return "there is no parameter ${shown(stranger)}; did you mean ${nearest(stranger, known)}?"
    }
    String other = asked.findResult { name, value ->
      textOf(value) && byName[name] && !byName[name].options[commandOf(asked)] ? name : null
    }
    if (other != null) {
      return "${other} is not a parameter of a ${commandOf(asked) == 'gate' ? 'gate' : 'bisection'}."
    }
    String wrong = asked.findResult { name, value -> problemOf(name as String, value, byName[name] ?: [:]) }
    if (wrong != null) {
      return wrong
    }
    String undecided = asked.undecided ?: UNDECIDED.first()
    return undecided in UNDECIDED ? null : "undecided is ${UNDECIDED.join(' or ')}, not ${shown(undecided)}."
  }

  /** `gate`, or `bisect`. */
  @NonCPS
  static String commandOf(Map asked) {
    return asked.command ?: COMMANDS.first()
  }

  /** Arguments of that command, one word for each parameter with a value: `--margin=2%`. */
  @NonCPS
  static List<String> words(String table, Map asked) {
    return optionsIn(table).findAll { it.options[commandOf(asked)] }.findResults { option ->
      String flag = option.options[commandOf(asked)]
      if (option.isSwitch) {
        return asked[option.name].toString() == 'true' ? flag : null
      }
      String text = textOf(asked[option.name]) ?: option.default
      return text ? "${flag}=${text}".toString() : null
    }
  }

  @NonCPS
  private static List<Map> optionsIn(String table) {
    return new JsonSlurperClassic().parseText(table) as List<Map>
  }

  @NonCPS
  private static String problemOf(String name, Object value, Map option) {
    if (value == null) {
      return null
    }
    if (option.isSwitch) {
      return value.toString() in ['true', 'false', ''] ? null : "${name} is true or false, not ${shown(value)}."
    }
    List texts = option.isList && value instanceof Collection ? value as List : [value]
    if (!texts.every { it instanceof CharSequence || it instanceof Number }) {
      return "${name} is ${option.isList ? 'text or a list of texts' : 'text'}, not ${shown(value)}."
    }
    return textOf(value) ==~ /\P{Cntrl}*/ ? null : "${name} contains a line break or another control character."
  }

  @NonCPS
  private static String textOf(Object value) {
    return value instanceof Collection ? value.join(',') : value?.toString()
  }

  /** Formats any value on one line. */
  @NonCPS
  private static String shown(Object value) {
    String text = value.toString().replaceAll(/\p{Cntrl}/, ' ')
    return "\"${text.length() > 60 ? text.substring(0, 60) + '…' : text}\""
  }

  @NonCPS
  private static String nearest(String name, List<String> known) {
    return known.min { distance(name.toLowerCase(Locale.ROOT), it.toLowerCase(Locale.ROOT)) }
  }

  /** Levenshtein distance. */
  @NonCPS
  private static int distance(String from, String to) {
    List<Integer> row = (0..to.length()) as List
    for (int i = 1; i <= from.length(); i++) {
      List<Integer> next = [i]
      for (int j = 1; j <= to.length(); j++) {
        int substitution = row[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1)
        next << [substitution, row[j] + 1, next[j - 1] + 1].min()
      }
      row = next
    }
    return row.last()
  }

}
