package org.ppsgate

import com.cloudbees.groovy.cps.NonCPS
import groovy.json.JsonSlurperClassic

/** Outcome of a call, read from the output and files of `ppsgate`: plain lists, maps, texts and numbers. */
class Outcome {

  /** Longest error, in characters, that becomes a message of the build. */
  static final int MOST_CHARACTERS = 1000

  /** Headline and work directory of each gate, from the output; there is one gate per testbed. */
  @NonCPS
  static List<Map> gatesIn(String printed) {
    return printed.readLines().collate(2, 1).findResults { lines ->
      def report = lines[1] =~ '^Report: (.+)/report/index\\.html$'
      report.find() ? [headline: lines[0], directory: report.group(1)] : null
    }
  }

  /** A gate with its verdict and cells. Changes are ratios to base; an invalid cell has none. */
  @NonCPS
  static Map judged(Map gate, String resultJson) {
    Map result = new JsonSlurperClassic().parseText(resultJson) as Map
    if (result.kind == 'bisect') {
      return gate + [verdict: result.answer.kind, cells: [], commits: commitsOf(result)]
    }
    Map outcome = result.outcome as Map
    List cells = (outcome.cells ?: []).collect { one ->
      Map interval = one.comparisons ? one.comparisons[0].interval : [:]
      [
        testbed: result.testbed.name,
        name: cellName(one.cell),
        verdict: one.verdict.kind,
        change: interval.change,
        low: interval.low,
        high: interval.high,
      ]
    }
    return gate + [verdict: outcome.verdict ?: outcome.kind, cells: cells]
  }

  /** Ids of the commits that changed the rate according to a bisection, or one of which changed it. */
  @NonCPS
  private static List<String> commitsOf(Map result) {
    List<Map> found = result.answer.kind == 'several' ? result.answer.found : [result.answer]
    return found.collectMany { one ->
      switch (one.kind) {
        case 'culprit':
          return [result.revisions[one.revision].commit]
        case 'group':
          return ((one.after + 1)..one.last).collect { result.revisions[it].commit }
        default:
          return []
      }
    }
  }

  @NonCPS
  private static String cellName(Map cell) {
    return [cell.scenario, cell.family, cell.frameBytes ? "${cell.frameBytes} B" : null].findAll().join(' ')
  }

  /** Sorts the worst gate first; its verdict counts for all. */
  @NonCPS
  static Map of(int exitCode, List<Map> gates, String console) {
    List<Map> worstFirst = gates.sort(false) { rank(it.verdict) }
    Map outcome = [
      verdict: worstFirst ? worstFirst[0].verdict : null,
      exitCode: exitCode,
      headline: worstFirst ? worstFirst*.headline.join(' · ') : null,
      complaint: complaintIn(console),
      cells: worstFirst.collectMany { it.cells },
      reports: worstFirst.collect { "${it.directory}/report/index.html".toString() },
    ]
    List<String> commits = worstFirst ? worstFirst[0].commits : null
    return commits == null ? outcome : outcome + [commits: commits]
  }

  @NonCPS
  private static int rank(String verdict) {
    return ['out-of-disk', 'invalid', 'inconclusive', 'improvement', 'no-regression', 'unchanged'].indexOf(verdict)
  }

  /** Message of the final error; null without an error. */
  @NonCPS
  private static String complaintIn(String console) {
    List<String> lines = console.readLines()
    int last = lines.findLastIndexOf { it.startsWith('ppsgate: ') }
    if (last < 0) {
      return null
    }
    String text = lines.drop(last).join('\n').replaceAll(/[\p{Cntrl}&&[^\n]]/, '').trim()
    return text.length() > MOST_CHARACTERS ? text.substring(0, MOST_CHARACTERS) + '…' : text
  }

}
