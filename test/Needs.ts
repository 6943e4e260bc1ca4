import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import type { TestOptions } from "@effect/vitest"
import { Config, Effect } from "effect"

declare module "vitest" {
  interface TaskMeta {
    /** A requirement of a skipped test and how to install it, as printed at the end of a run. */
    leftOut?: string
  }
}

/** A requirement beyond Node and npm. */
interface Need {
  readonly name: string
  readonly remedy: string
  /** Whether it works as the tests need it, not only whether it exists. */
  readonly works: () => boolean
  /** Whether it may be missing in CI too, because no system package provides it. */
  readonly isOptional: boolean
}

/** The output of a script, or undefined on failure. Debian has some servers in folders that are not in every PATH. */
const output = (script: string) => {
  const { status, stdout } = spawnSync("sh", ["-c", `PATH=$PATH:/usr/sbin:/sbin; ${script}`], { timeout: 20_000 })
  return status === 0 ? `${stdout}` : undefined
}

const program = (name: string, remedy: string, script: string, proof = ""): Need => ({
  name,
  remedy,
  works: () => output(script)?.includes(proof) === true,
  isOptional: false
})

export const swaks = program(
  "swaks with TLS",
  "apt-get install swaks libnet-ssleay-perl",
  "swaks --support",
  "TLS supported"
)

export const nameServer = program("dnsmasq", "apt-get install dnsmasq-base", "dnsmasq --version")

export const python = program("Python 3", "apt-get install python3", 'python3 -c "import email, smtplib, ssl"')

export const ruby = program("Ruby", "apt-get install ruby", 'ruby -e "require %q(json); require %q(openssl)"')

export const php = program("PHP", "apt-get install php-cli", "php --version")

export const go: Need = { ...program("Go", "apt-get install golang-go", "go version"), isOptional: true }

export const postfix = program(
  "Postfix, its user and the rights of root",
  "apt-get install postfix, and be root or have sudo without a password",
  'sudo=; [ "$(id -u)" = 0 ] || sudo="sudo -n"; $sudo postconf -d mail_version && $sudo runuser -u postfix -- true'
)

export const actionMailbox = program(
  "Rails with Action Mailbox",
  "apt-get install --no-install-recommends ruby-actionmailbox ruby-railties ruby-activerecord ruby-activestorage ruby-sqlite3 puma",
  `puma --version && ruby -e 'require "rails"; require "action_mailbox/engine"; require "sqlite3"'`
)

export const threadPriorities = program("Linux", "a priority of each thread is Linux's own", "test -d /proc/self/task")

/** Debian's Python, because another one in PATH does not have its packages. */
export const anymail = program(
  "Django with Anymail",
  "apt-get install --no-install-recommends python3-django python3-django-anymail",
  '/usr/bin/python3 -c "import django, anymail"'
)

export const rubyPostmark = program(
  "Postmark's library for Ruby",
  "apt-get install --no-install-recommends ruby-postmark",
  `ruby -e 'require "postmark"'`
)

export const rspamd = program(
  "rspamd and ClamAV",
  "apt-get install --no-install-recommends rspamd clamav-daemon",
  "rspamd --version && clamd --version"
)

export const haproxy = program("HAProxy", "apt-get install haproxy", "haproxy -v")

export const pebble = program("Pebble", "apt-get install pebble", "command -v pebble")

export const promtool = program("promtool", "apt-get install prometheus", "promtool --version")

export const systemd = program("systemd-analyze", "apt-get install systemd", "systemd-analyze --version")

const headlessShell = "/usr/bin/chromium-headless-shell"

/** The path in Debian's package. The one without a desktop takes half of the CPU time. */
export const pathOfChromium = existsSync(headlessShell) ? headlessShell : "/usr/bin/chromium"

export const chromium = program("Chromium", "apt-get install chromium-headless-shell", `${pathOfChromium} --version`)

export const terminal = program(
  "bash and curl",
  "apt-get install bash curl",
  "bash --version && curl --version && command -v sleep"
)

export const limits = program(
  "Linux and its prlimit",
  "apt-get install util-linux",
  "[ -r /proc/self/status ] && prlimit --version"
)

export const recorder = program(
  "strace, and the right to trace a process",
  "apt-get install strace",
  "strace -DDD -f -o /dev/null --seccomp-bpf -e trace=write -- true"
)

export const cluster = program(
  "PostgreSQL's server programs, and the user postgres where root runs the tests",
  "apt-get install postgresql procps",
  // Debian has a folder for each version, none of them in PATH.
  `for folder in $(ls -d /usr/lib/postgresql/*/bin) $(pg_config --bindir); do PATH=$folder:$PATH; done
  initdb --version && pg_ctl --version && pg_dump --version && psql --version && pgrep --version &&
  { [ "$(id -u)" != 0 ] || runuser -u postgres -- true; }`
)

export const patroni = program(
  "Patroni, etcd, HAProxy, and network namespaces that root may make",
  "apt-get install patroni python3-etcd etcd-server haproxy postgresql iproute2, and be root. Stop the services that the packages start",
  `[ "$(id -u)" = 0 ] && patroni --version && etcd --version && haproxy -v && psql --version && runuser -u postgres -- true &&
  ip netns add inlet-need && ip netns delete inlet-need`
)

export const docker: Need = {
  ...program("docker compose", "https://docs.docker.com/compose/install", "docker compose version"),
  isOptional: true
}

const folderOfCorpus = Effect.runSync(Effect.orDie(Config.withDefault(Config.String("CORPUS_DIR"), "")))

export const corpus: Need = {
  name: "the corpus of foreign messages",
  remedy: "CORPUS_DIR names its folder",
  works: () => existsSync(`${folderOfCorpus}/MANIFEST.tsv`),
  isOptional: true
}

const isCi = Effect.runSync(Effect.orDie(Config.withDefault(Config.Boolean("CI"), false)))

const found = new Map<Need, boolean>()

const missing = (needs: ReadonlyArray<Need>) =>
  needs.filter((need) => {
    const works = found.get(need) ?? need.works()
    found.set(need, works)
    return !works
  })

const line = (needs: ReadonlyArray<Need>) => needs.map(({ name, remedy }) => `${name} (${remedy})`).join(", ")

/**
 * The options of a test or suite with these requirements. If one is missing, the test is skipped and reported. With
 * CI=true it runs and fails.
 */
export const options = (...needs: ReadonlyArray<Need>): TestOptions => {
  const lacking = missing(needs).filter(({ isOptional }) => isOptional || !isCi)
  return lacking.length === 0 ? {} : { skip: true, meta: { leftOut: line(lacking) } }
}

/** Dies with a line that says how to install the missing requirements. */
export const demand = (...needs: ReadonlyArray<Need>) =>
  Effect.suspend(() => {
    const lacking = missing(needs)
    return lacking.length === 0 ? Effect.void : Effect.die(new Error(`This needs ${line(lacking)}`))
  })
