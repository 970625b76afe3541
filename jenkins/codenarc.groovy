// Enables the CodeNarc rules that find mistakes, but no rules of style.
ruleset {
  ruleset('rulesets/basic.xml')
  ruleset('rulesets/braces.xml')
  ruleset('rulesets/concurrency.xml')
  ruleset('rulesets/dry.xml') {
    // Tests print their observations.
    exclude 'DuplicateStringLiteral'
    exclude 'DuplicateNumberLiteral'
    exclude 'DuplicateMapLiteral'
    exclude 'DuplicateListLiteral'
  }
  ruleset('rulesets/exceptions.xml') {
    // A step may throw any exception.
    exclude 'CatchException'
  }
  ruleset('rulesets/imports.xml')
  ruleset('rulesets/security.xml') {
    // For Enterprise JavaBeans, which are not used here.
    exclude 'JavaIoPackageAccess'
  }
  ruleset('rulesets/unnecessary.xml') {
    // Code style: `return` is explicit.
    exclude 'UnnecessaryReturnKeyword'
  }
  ruleset('rulesets/unused.xml')
}
