// Original file: proto/cadastre/v1/ownership.proto


export interface LeaseDuration {
  'keyspace'?: (string);
  'durationMs'?: (number);
  'renewIntervalMs'?: (number);
}

export interface LeaseDuration__Output {
  'keyspace': (string);
  'durationMs': (number);
  'renewIntervalMs': (number);
}
