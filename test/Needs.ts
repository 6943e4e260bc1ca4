import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import type { TestOptions } from "@effect/vitest"
import { Config, Effect } from "effect"

declare module "vitest" {
  interface TaskMeta {
    /** What a test that was skipped would have needed, and how to get it. The report at the end of a run names it. */
    leftOut?: string
  }
}

/** Something that a test needs and a machine with Node and npm alone does not have. */
interface Need {
  readonly name: string
  readonly remedy: string
  /** Not only there: it does what the tests ask of it. */
  readonly works: () => boolean
  /** Whether even the machine that decides may lack it, for no package of the system brings it. */
  readonly isOptional: boolean
}

/** What a script prints; undefined when it fails. Debian has servers in folders that are not on everybody's path. */
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

export const postfix = program(
  "Postfix, its user and the rights of root",
  "apt-get install postfix, and be root or have sudo without a password",
  'sudo=; [ "$(id -u)" = 0 ] || sudo="sudo -n"; $sudo postconf -d mail_version && $sudo runuser -u postfix -- true'
)

export const haproxy = program("HAProxy", "apt-get install haproxy", "haproxy -v")

export const promtool = program("promtool", "apt-get install prometheus", "promtool --version")

export const systemd = program("systemd-analyze", "apt-get install systemd", "systemd-analyze --version")

/** Where Debian's package puts it. */
export const pathOfChromium = "/usr/bin/chromium"

export const chromium = program("Chromium", "apt-get install chromium", `${pathOfChromium} --version`)

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
  // Debian keeps a folder for each version, none of them in PATH.
  `for folder in $(ls -d /usr/lib/postgresql/*/bin) $(pg_config --bindir); do PATH=$folder:$PATH; done
  initdb --version && pg_ctl --version && pg_dump --version && psql --version && pgrep --version
  [ "$(id -u)" != 0 ] || runuser -u postgres -- true`
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
 * The options of a test or suite that needs these. Where one is missing, it is
 * skipped and the report of the run says so; the machine that decides has all
 * of them, so there it runs and fails.
 */
export const options = (...needs: ReadonlyArray<Need>): TestOptions => {
  const lacking = missing(needs).filter(({ isOptional }) => isOptional || !isCi)
  return lacking.length === 0 ? {} : { skip: true, meta: { leftOut: line(lacking) } }
}

/** Dies with a line that says how to get what is missing of these. */
export const demand = (...needs: ReadonlyArray<Need>) =>
  Effect.suspend(() => {
    const lacking = missing(needs)
    return lacking.length === 0 ? Effect.void : Effect.die(new Error(`This needs ${line(lacking)}`))
  })
