import type { ControlName } from './rules-controls.ts'

export type Requirement = { reference: string; title: string; controls: readonly ControlName[] }

/** The requirements of a framework that features of Assay support, and what is left to the operator. */
export type Framework = { name: string; requirements: readonly Requirement[]; operator: readonly string[] }

const hipaa: Framework = {
  name: 'HIPAA technical safeguards (45 CFR 164.312)',
  requirements: [
    { reference: '164.312(a)(1)', title: 'Access control', controls: ['isolation', 'credentials', 'roles', 'accessRemoval'] },
    { reference: '164.312(a)(2)(i)', title: 'Unique user identification', controls: ['signIn', 'singleSignOn', 'auditLog'] },
    { reference: '164.312(a)(2)(ii)', title: 'Emergency access procedure', controls: ['emergencyAccess', 'backups'] },
    { reference: '164.312(a)(2)(iii)', title: 'Automatic logoff', controls: ['sessions'] },
    { reference: '164.312(a)(2)(iv)', title: 'Encryption and decryption', controls: ['encryption', 'encryptionKeys'] },
    { reference: '164.312(b)', title: 'Audit controls', controls: ['auditLog', 'auditProtection'] },
    { reference: '164.312(c)(1)', title: 'Integrity', controls: ['integrity', 'patientIdentity', 'backups'] },
    { reference: '164.312(c)(2)', title: 'Mechanism to authenticate health information', controls: ['integrity', 'auditProtection'] },
    { reference: '164.312(d)', title: 'Person or entity authentication', controls: ['signIn', 'singleSignOn', 'credentials'] },
    { reference: '164.312(e)(1)', title: 'Transmission security', controls: ['transport', 'outbound'] },
    { reference: '164.312(e)(2)(i)', title: 'Integrity controls', controls: ['signatures', 'transport'] },
    { reference: '164.312(e)(2)(ii)', title: 'Encryption', controls: ['transport'] },
  ],
  operator: [
    'Administrative safeguards (164.308): risk analysis, training, sanctions, incident response and contingency plans.',
    'Physical safeguards (164.310): facilities, workstations, devices and media.',
    'Business associate agreements (164.314) and documentation for six years (164.316).',
    'TLS at your proxy and to PostgreSQL, and a written emergency access procedure.',
  ],
}

const soc2: Framework = {
  name: 'SOC 2 trust services criteria',
  requirements: [
    {
      reference: 'CC6.1',
      title: 'Logical access security',
      controls: ['isolation', 'credentials', 'signIn', 'singleSignOn', 'encryption', 'encryptionKeys'],
    },
    { reference: 'CC6.2', title: 'Registration and removal of users', controls: ['signIn', 'accessRemoval'] },
    { reference: 'CC6.3', title: 'Roles and least privilege', controls: ['roles', 'declaredFields', 'masking', 'accessRemoval'] },
    {
      reference: 'CC6.6',
      title: 'Threats from outside the system boundary',
      controls: ['limits', 'rates', 'hardening', 'outbound', 'inventory'],
    },
    { reference: 'CC6.7', title: 'Transmission and movement of information', controls: ['transport', 'signatures', 'backups'] },
    { reference: 'CC6.8', title: 'Unauthorized software', controls: ['supplyChain'] },
    { reference: 'CC7.1', title: 'Detection of vulnerabilities', controls: ['supplyChain', 'inventory'] },
    { reference: 'CC7.2', title: 'Monitoring for anomalies', controls: ['auditLog', 'auditProtection', 'availability'] },
    { reference: 'CC7.5', title: 'Recovery from incidents', controls: ['backups', 'encryptionKeys'] },
    { reference: 'CC8.1', title: 'Change management', controls: ['changes', 'supplyChain'] },
    { reference: 'A1.1', title: 'Capacity', controls: ['limits', 'rates'] },
    { reference: 'A1.2', title: 'Backup and recovery infrastructure', controls: ['backups', 'availability'] },
    {
      reference: 'C1.1',
      title: 'Protection of confidential information',
      controls: ['encryption', 'masking', 'minimization', 'isolation'],
    },
    { reference: 'C1.2', title: 'Disposal of confidential information', controls: ['erasure', 'retention'] },
    {
      reference: 'PI1.2',
      title: 'Complete and accurate inputs',
      controls: ['thirdParties', 'labMessages', 'patientIdentity', 'hardening'],
    },
    { reference: 'PI1.3', title: 'Complete and accurate processing', controls: ['processing', 'labMessages', 'integrity'] },
    { reference: 'PI1.4', title: 'Complete and accurate outputs', controls: ['signatures', 'processing'] },
    { reference: 'P5.1', title: 'Access to personal information', controls: ['portability'] },
    { reference: 'P5.2', title: 'Correction of personal information', controls: ['rectification'] },
  ],
  operator: [
    'Control environment, communication, risk assessment, monitoring and control activities (CC1 to CC5).',
    'Physical access and disposal of hardware (CC6.4, CC6.5).',
    'Incident evaluation and response (CC7.3, CC7.4), vendor and business risk (CC9), and tests of your recovery plan (A1.3).',
    'Notice, consent and disclosure (the other privacy criteria), and the audit by an independent auditor.',
  ],
}

const gdpr: Framework = {
  name: 'GDPR',
  requirements: [
    { reference: 'Article 5(1)(c)', title: 'Data minimization', controls: ['minimization', 'masking'] },
    { reference: 'Article 5(1)(d)', title: 'Accuracy', controls: ['patientIdentity', 'labMessages', 'rectification'] },
    { reference: 'Article 5(1)(e)', title: 'Storage limitation', controls: ['retention', 'erasure'] },
    { reference: 'Article 5(1)(f)', title: 'Integrity and confidentiality', controls: ['encryption', 'integrity', 'isolation'] },
    { reference: 'Article 5(2)', title: 'Accountability', controls: ['auditLog', 'auditProtection'] },
    { reference: 'Article 15', title: 'Right of access', controls: ['portability'] },
    { reference: 'Article 16', title: 'Right to rectification', controls: ['rectification'] },
    { reference: 'Article 17', title: 'Right to erasure', controls: ['erasure'] },
    { reference: 'Article 20', title: 'Right to data portability', controls: ['portability'] },
    {
      reference: 'Article 25',
      title: 'Data protection by design and by default',
      controls: ['minimization', 'masking', 'roles', 'declaredFields'],
    },
    { reference: 'Article 32(1)(a)', title: 'Encryption', controls: ['encryption', 'encryptionKeys', 'transport'] },
    {
      reference: 'Article 32(1)(b)',
      title: 'Confidentiality, integrity, availability and resilience',
      controls: ['credentials', 'signIn', 'roles', 'limits', 'availability'],
    },
    { reference: 'Article 32(1)(c)', title: 'Restoring availability and access', controls: ['backups'] },
    { reference: 'Article 32(1)(d)', title: 'Regular testing', controls: ['auditProtection', 'hardening', 'supplyChain'] },
    { reference: 'Article 33', title: 'Information for a breach notification', controls: ['auditLog', 'auditProtection'] },
  ],
  operator: [
    'Legal basis, consent, privacy notices and the purposes of processing (articles 6 to 14).',
    'Requests for restriction and objection (articles 18 and 21), and identification of the person who makes a request.',
    'Contracts with processors (article 28), records of processing (article 30) and impact assessments (article 35).',
    'Breach notification (articles 33 and 34), and transfers to third countries (articles 44 to 49).',
    'Deletion of backups, exports and copies at receivers.',
  ],
}

/** Attacks that go beyond the OWASP list. Every file in test/attacks belongs to one of these lines or to OWASP. */
const attacks: Framework = {
  name: 'Attack findings',
  requirements: [
    { reference: '1', title: 'Compressed, large and many bodies exhaust memory', controls: ['limits'] },
    {
      reference: '2',
      title: 'Access to the database rewrites the audit log',
      controls: ['auditLog', 'auditProtection', 'encryptionKeys'],
    },
    { reference: '3', title: 'A forged backup runs SQL when it is restored', controls: ['backups'] },
    { reference: '4', title: 'Copies keep the data of an erased user', controls: ['erasure'] },
    { reference: '5', title: 'Searches of the documentation hold up the service', controls: ['limits'] },
    { reference: '6', title: 'A guessed, intercepted or forged sign-in', controls: ['signIn', 'singleSignOn', 'sessions'] },
    { reference: '7', title: 'A token outlives the key that created it', controls: ['accessRemoval', 'thirdParties'] },
    { reference: '8', title: 'Credentials in webhook URLs', controls: ['encryption', 'declaredFields'] },
    { reference: '9', title: 'The data of one child serves a sibling', controls: ['patientIdentity'] },
    { reference: '10', title: 'An order is sent twice, or changed after it was sent', controls: ['scheduling', 'processing'] },
    {
      reference: '11',
      title: 'Malformed requests, dropped connections and restarts',
      controls: ['hardening', 'transport', 'availability', 'supplyChain'],
    },
    { reference: '12', title: 'Requests of existing clients are misread', controls: ['compatibility'] },
    { reference: 'Partners', title: 'Wrong messages of labs, couriers and sources', controls: ['labMessages', 'thirdParties'] },
    { reference: 'Load', title: 'One caller takes the share of the others', controls: ['limits', 'rates'] },
  ],
  operator: ['Access to the database, its host and its backups, and the key that encrypts them.'],
}

const owasp: Framework = {
  name: 'OWASP API Security Top 10 (2023)',
  requirements: [
    { reference: 'API1', title: 'Broken object level authorization', controls: ['isolation'] },
    { reference: 'API2', title: 'Broken authentication', controls: ['credentials', 'signIn', 'singleSignOn', 'accessRemoval'] },
    { reference: 'API3', title: 'Broken object property level authorization', controls: ['declaredFields', 'masking'] },
    { reference: 'API4', title: 'Unrestricted resource consumption', controls: ['limits'] },
    { reference: 'API5', title: 'Broken function level authorization', controls: ['roles'] },
    { reference: 'API6', title: 'Unrestricted access to sensitive business flows', controls: ['rates', 'processing'] },
    { reference: 'API7', title: 'Server side request forgery', controls: ['outbound'] },
    { reference: 'API8', title: 'Security misconfiguration', controls: ['hardening', 'transport'] },
    { reference: 'API9', title: 'Improper inventory management', controls: ['inventory'] },
    { reference: 'API10', title: 'Unsafe consumption of APIs', controls: ['thirdParties', 'labMessages'] },
  ],
  operator: ['Your own API, your proxy and your webhook receivers.'],
}

export const frameworks: readonly Framework[] = [hipaa, soc2, gdpr, attacks, owasp]
