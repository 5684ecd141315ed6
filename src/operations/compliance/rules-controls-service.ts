import type { Control } from './rules-controls.ts'

/** Controls of requests, connections and the software itself. */
export const serviceControls = {
  transport: {
    title: 'Encryption in transit',
    feature: 'In production, outbound requests use TLS with a verified certificate, and responses tell browsers to use HTTPS only.',
    tests: {
      'webhooks/send': ['TLS > rejects a certificate that %s', 'TLS > ignores NODE_TLS_REJECT_UNAUTHORIZED'],
      'rules/webhook-addresses': ['networks the operator opens > production requires https'],
      'attacks/page-headers': ['a page that %s links to learns no URL, and nobody on the network can ask for it without TLS'],
    },
  },
  signatures: {
    title: 'Signed webhooks',
    feature: 'Every webhook message has a signature with its ID and time, so that a receiver detects a changed or repeated message.',
    tests: {
      'webhooks/delivery': ['delivers every status change of an order, signed and in order'],
      'rules/webhook-signatures': ['%s library > rejects a changed body, a changed ID and a timestamp outside the tolerance'],
    },
  },
  outbound: {
    title: 'Outbound requests',
    feature: 'Webhooks, brokers and sources cannot lead to private or metadata addresses, not even by DNS rebinding or a redirect.',
    tests: {
      'attacks/owasp': ['API7 server side request forgery: no webhook and no broker has an internal address'],
      'webhooks/send': [
        'addresses > does not connect to a host that resolves to %s',
        'addresses > resolves a host once per connection and connects to the checked address',
        'receiver behavior > reports a redirect to a metadata address without following it',
      ],
      'api/oauth': ['OAuth connections > does not contact a private address in production'],
    },
  },
  limits: {
    title: 'Limits and fair shares',
    feature: 'Bodies, pages, connections and the share of a team are limited, so that one caller cannot stop the others.',
    tests: {
      'attacks/owasp': ['API4 unrestricted resource consumption: no request gets a page or sends a body of any size'],
      'attacks/bodies': [
        'eight bodies of nine million empty samples, sent with the token of a user, are refused',
        'a body of %s is refused while it arrives',
        'a credential with large bodies in flight is asked to wait, until they are done or their clients are gone',
        'a credential with hundreds of short bodies in flight is asked to wait, and others are not',
        'a process with large bodies of several credentials in flight asks one of them to wait',
      ],
      'attacks/unfinished-requests': [
        'an address has a limited number of connections %s',
        'the addresses of an IPv6 network share its connections',
        'many networks together have a limited number of connections in a process',
      ],
      'attacks/fair-shares': ['a team whose requests hold every connection they can get does not stop another team'],
      'attacks/docs-search': ['a flood of searches, the first of which build the index, does not hold up a health check'],
      'attacks/metrics': [
        'a flood of scrapes > shares one collection, and so do reads within the next seconds',
        'a flood of scrapes > lets other requests run between one metric and the next',
        'with METRICS_TOKEN > the metrics are refused to %j',
      ],
      'attacks/feed-turns': ['a team with thousands of due feeds does not hide the feed of another team'],
      'attacks/large-lab-messages': ['a large message of a lab never holds the event loop > %s, filed with its order'],
      'attacks/large-pushes': ['a push %s never holds the event loop', 'a night with many samples never holds the event loop'],
      'attacks/mllp-connections': [
        'a message that trickles in never keeps its connection past the deadline',
        'the longest idle connection yields to a new one',
      ],
      'attacks/report-parser': [
        'a file of 4 MB is read in linear time > with 50,000 compressed objects, each of which contains the next',
        'a report is read in linear time > with a million lines on 50 pages',
      ],
    },
  },
  rates: {
    title: 'Fixed rates',
    feature: 'A team or a key can have a fixed rate, which also limits how many orders a script places.',
    tests: {
      'attacks/owasp': ['API6 unrestricted access to sensitive business flows: a script that places orders is held to the rate of its key'],
      'api/rates': [
        'a Team Management Key can lower the rates of its team and its keys, and not raise or remove them',
        'a team with a fixed rate > is accepted up to its burst, and then at its rate, over all services together',
      ],
    },
  },
  hardening: {
    title: 'Hostile requests',
    feature:
      'Malformed requests get an error without internal details, responses allow no other origin, and a service on a loopback address accepts only known hosts.',
    tests: {
      'attacks/owasp': ['API8 security misconfiguration: no response names the software, allows another origin or contains a stack trace'],
      'attacks/findings': [
        '11 an operation that is not offered is named as such, even if another one has its path',
        '11 the method QUERY is refused with 405',
        '11 a NUL character is reported at its field',
        '11 the interface description names 405, 413, 415, 429 and 503',
        '11 the event types of a replay are checked like those of a filter',
      ],
      'attacks/dns-rebinding': [
        'a service on a loopback address > refuses the host %s with 421 and names the remedy',
        'a service on a loopback address > ignores a forwarded host, which a page could set',
      ],
      'api/hostile': ['on a raw socket > %s gets a JSON error', 'a request body > names the field that contains a NUL character'],
    },
  },
  inventory: {
    title: 'Known endpoints',
    feature: 'Assay serves only the endpoints of its contract, and sandbox functions and sandbox keys do not work in production.',
    tests: {
      'attacks/owasp': ['API9 improper inventory management: production serves no sandbox function and no unlisted path'],
      'start/deployment': ['rejects a database of another key, environment or region'],
    },
  },
  thirdParties: {
    title: 'Data from labs and sources',
    feature: 'Assay validates everything that labs, couriers and wearable sources send, and a lab sees only its own orders.',
    tests: {
      'attacks/owasp': ['API10 unsafe consumption of APIs: a compromised source connects nobody with a hostile response'],
      'api/partner-api': [
        'unusual reports > with %s are rejected and change nothing',
        'orders the lab may not see > %s returns the same 404 to another lab as for an unknown order',
      ],
      'attacks/couriers': ['a stranger gets one response for couriers that exist and couriers that do not, also after too many attempts'],
      'attacks/odd-records': [
        '%s > a record that Assay cannot read is skipped, counted and read once it changes, and the others are stored',
        '%s > a feed that fails again and again shows at the connection, with the cause and the remedy',
      ],
      'attacks/link-tokens': ['three browsers that use one link token at the same moment connect one source, and the others get 401'],
    },
  },
  labMessages: {
    title: 'Messages of labs',
    feature:
      'Assay files each result that it accepts, keeps it for review or lists it as failed. A status of a lab changes only the order that it fits.',
    tests: {
      'attacks/lost-results': [
        'an accepted result message > is filed with an order, pending review, or listed as failed',
        'the documents of a result > %s is kept, and downloaded with its media type',
      ],
      'attacks/lab-statuses': [
        'a lab that cancels an order > %s does not end it, and a warning leaves it to a person',
        'a specimen rejected for another patient fails no order',
      ],
      'attacks/unmatched-review': [
        'a result that fits no order > comes before newer ones in the review, if it is critical and nobody has decided',
        'accepting a result across a difference of the patient > needs a note, by API and by CLI: %s',
      ],
      'attacks/operator-queue': [
        'a result without a team > is stored with its account and its patient, and its PDF once',
        "the operator's queue > is read in pages, without opening a report",
      ],
    },
  },
  availability: {
    title: 'Availability',
    feature: 'Assay restarts failed processes, follows the primary database, and reports its state at `/ready`.',
    tests: {
      'attacks/restarts': [
        'a read that loses its connection to a restarted PostgreSQL while it uses %s still succeeds',
        'a change that loses its connection is not repeated, because it may have been committed',
      ],
      'attacks/findings': ['11 /ready says that the disk is full while writes fail, although its own write succeeds'],
      'start/processes': ['a killed API process is restarted, and no acknowledged request is lost'],
      'start/ready': ['reports an unavailable database, keeps running and is ready when it returns'],
      'db/failover': ['a standby is refused, and with several hosts the connections follow the primary'],
    },
  },
  processing: {
    title: 'Processing of orders',
    feature: 'A repeated request places an order once, and an order follows only the defined transitions.',
    tests: {
      'api/order-idempotency': ['fifty identical concurrent orders > with one key create one order and return the same response'],
      'api/order-lifecycles': ['allows only defined transitions of a %s order for any sequence of requests'],
      'webhooks/model': ['delivers everything once decided, in order, through crashes, take-overs, failures and changes'],
    },
  },
  scheduling: {
    title: 'Dates of orders',
    feature: 'An order goes to the lab once, on its date, and its date cannot change afterwards.',
    tests: {
      'attacks/findings': ['10 an order is sent in the request that clears its date, once, and refuses a new date afterwards'],
      'api/order-schedule': [
        'rescheduling > dispatches the order in the same request when the date is cleared',
        'rescheduling > rejects an order that was dispatched or canceled',
        'concurrency > a reschedule and the dispatcher send an order once, and never after it was moved',
      ],
    },
  },
  compatibility: {
    title: 'Requests of existing clients',
    feature: 'Assay accepts the spellings of paths, dates and empty fields that public clients send, but not an empty ID.',
    tests: {
      'attacks/findings': [
        '12 a lab shop posts to /v3/order/',
        '12 empty query values are absent, except IDs',
        '12 %s is the day as it is written',
        '12 a summary read has a provider filter',
        '12 the paths of older clients work',
        '12 a team with strict enums gets null for demographics that were not given',
      ],
      'api/real-callers': [
        'every API path works with a slash at its end',
        'empty query fields are ignored, except IDs and cursors',
        'a summary read with a provider returns only summaries of that provider',
        'the typed Java client gets null for demographics that an order did not give, if the team asks for it',
      ],
    },
  },
  supplyChain: {
    title: 'Supply chain',
    feature: 'Dependencies have exact versions and hashes, run no install scripts, and are listed in a bill of materials.',
    tests: {
      'attacks/supply-chain': [
        'no dependency has a license that we do not accept, or an install script',
        'every dependency has an exact version, and every installed file a hash',
        'the bill of materials lists every package with its version, license and hash',
      ],
    },
  },
  changes: {
    title: 'Safe upgrades',
    feature: 'An upgrade changes no migration that has run, and waits for processes that it would break.',
    tests: {
      'upgrade/rolling': ['an upgrade changes no migration that has run'],
      'db/migrate': [
        'a migration that would break a running process waits until it has stopped, and then the older version does not start',
      ],
    },
  },
} as const satisfies Record<string, Control>
