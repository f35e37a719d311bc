// Original file: proto/cadastre/v1/directory.proto


export interface ProgressFrame {
}

export interface ProgressFrame__Output {
}
