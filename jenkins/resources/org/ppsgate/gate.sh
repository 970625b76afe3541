#!/bin/sh
# Runs one gate, or one bisection, for vars/ppsgate.groovy. All values come in the environment, where none of them can become a command:
# PPSGATE_HOME, PPSGATE_COMMAND, PPSGATE_DIRECTORY (the work directory), PPSGATE_WORDS (the arguments, one a line), and for
# an ssh agent PPSGATE_SSH_KEY (a file) with PPSGATE_SSH_PASSPHRASE.
#
# In the work directory's folder jenkins/ stays what it said: verdict.txt, and console.log with how it went.

gate() {
  program=$PPSGATE_HOME/bin/ppsgate
  if [ ! -x "$program" ]; then
    echo "ppsgate: there is no $program on this agent: set \`home\`, or PPSGATE_HOME of the agent, to where ppsgate lies." >&2
    return 4
  fi
  set -f
  IFS='
'
  # shellcheck disable=SC2086 # The words are split, at the ends of lines alone.
  set -- "$program" "$PPSGATE_COMMAND" "--directory=$PPSGATE_DIRECTORY" $PPSGATE_WORDS
  if [ -z "${PPSGATE_SSH_KEY:-}" ]; then
    "$@"
    return
  fi
  # An abort ends all that have Jenkins' cookie. The ssh agent goes without it, for the gate still has to reach the DUT
  # to bring it back to its base; it ends with the gate, and soon after this shell, should someone kill that.
  # shellcheck disable=SC2016,SC2097,SC2098 # The agent's shell is what expands, and gets the cookie by another name.
  COOKIE=${JENKINS_SERVER_COOKIE:-} JENKINS_SERVER_COOKIE='' ssh-agent sh -c '
    export JENKINS_SERVER_COOKIE="$COOKIE" DISPLAY=none SSH_ASKPASS="$PPSGATE_SSH_KEY.passphrase" SSH_ASKPASS_REQUIRE=force
    printf "#!/bin/sh\nprintenv PPSGATE_SSH_PASSPHRASE\n" >"$SSH_ASKPASS"
    chmod 700 "$SSH_ASKPASS"
    if ! ssh-add -q "$PPSGATE_SSH_KEY" </dev/null; then
      echo "ppsgate: the key of \`sshCredentials\` cannot be used: see what ssh-add says above." >&2
      exit 4
    fi
    rm -f "$SSH_ASKPASS"
    unset COOKIE DISPLAY PPSGATE_SSH_PASSPHRASE SSH_ASKPASS SSH_ASKPASS_REQUIRE
    "$@"
    exit_code=$?
    kill "$SSH_AGENT_PID"
    exit $exit_code
  ' sh "$@"
}

notes=$PPSGATE_DIRECTORY/jenkins
mkdir -p "$notes" || exit 4
echo $$ >"$notes/pid"

# An abort is for the gate alone, which cleans up; anyone who waits for it, or prints what it says, waits.
trap : TERM INT
{
  trap : TERM INT
  gate 2>&1 >"$notes/verdict.txt"
  echo $? >"$notes/exit-code"
} | (
  trap '' TERM INT
  tee "$notes/console.log" >&2
)
rm -f "$notes/pid"
exit "$(cat "$notes/exit-code" || echo 4)"
