// What CodeNarc holds the library and its tests to: all that is about mistakes, not about taste.
ruleset {
  ruleset('rulesets/basic.xml')
  ruleset('rulesets/braces.xml')
  ruleset('rulesets/concurrency.xml')
  ruleset('rulesets/dry.xml') {
    // Tests say what they see.
    exclude 'DuplicateStringLiteral'
    exclude 'DuplicateNumberLiteral'
    exclude 'DuplicateMapLiteral'
    exclude 'DuplicateListLiteral'
  }
  ruleset('rulesets/exceptions.xml') {
    // A step throws what its plugin likes.
    exclude 'CatchException'
  }
  ruleset('rulesets/imports.xml')
  ruleset('rulesets/security.xml') {
    // Of Enterprise JavaBeans, which are not here.
    exclude 'JavaIoPackageAccess'
  }
  ruleset('rulesets/unnecessary.xml') {
    // Code style: `return` is written out.
    exclude 'UnnecessaryReturnKeyword'
  }
  ruleset('rulesets/unused.xml')
}
