#!/bin/sh
# Runs a gate or a bisection for vars/ppsgate.groovy. All values come in the environment, where none can become a
# command: PPSGATE_HOME, PPSGATE_COMMAND, PPSGATE_DIRECTORY (the work directory), PPSGATE_WORDS (the arguments, one per
# line), and for an ssh agent PPSGATE_SSH_KEY (a file) with PPSGATE_SSH_PASSPHRASE.
#
# Keeps the output in the work directory's folder jenkins/: the verdict in verdict.txt, the progress in console.log.

gate() {
  program=$PPSGATE_HOME/bin/ppsgate
  if [ ! -x "$program" ]; then
    echo "ppsgate: there is no $program on this agent: set \`home\`, or PPSGATE_HOME of the agent, to where ppsgate lies." >&2
    return 4
  fi
  set -f
  IFS='
'
  # shellcheck disable=SC2086 # Splits the words, only at line ends.
  set -- "$program" "$PPSGATE_COMMAND" "--directory=$PPSGATE_DIRECTORY" $PPSGATE_WORDS
  if [ -z "${PPSGATE_SSH_KEY:-}" ]; then
    "$@"
    return
  fi
  # An abort ends all processes with Jenkins' cookie. The ssh agent starts without it, as the gate still needs the DUT to
  # restore its base. The agent ends with the gate, or soon after this shell if that is killed.
  # shellcheck disable=SC2016,SC2097,SC2098 # The agent's shell expands this, and gets the cookie by another name.
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

# Only the gate acts on an abort, and cleans up; this shell and those that print its output wait for it.
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
