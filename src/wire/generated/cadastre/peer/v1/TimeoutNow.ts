// Original file: proto/cadastre/peer/v1/peer.proto


export interface TimeoutNow {
}

export interface TimeoutNow__Output {
}
