// long: the words of 80 languages, a block for each.

/**
 * What a word near a number or a link says of it. Where two languages use a
 * word for two things, the first of these counts.
 *
 * `code`: a code is spoken of. `otp`: one that lets somebody in, `once` together with it. `soon`: it ends.
 * `verify`, `login`, `reset`, `password`, `invite`: what it is for.
 * `other`: the label of a number that is no code. `deal`: shops and gifts.
 * `foot`: what stands at the end of every mail.
 */
export const categories = [
  "otp",
  "code",
  "verify",
  "login",
  "reset",
  "password",
  "invite",
  "other",
  "deal",
  "once",
  "soon",
  "foot"
] as const
export type Category = (typeof categories)[number]

/**
 * By language. A word is a beginning of words: `code` stands for codes, too.
 * A dot behind it ends the word, a dash before it lets it begin inside another
 * (Anmelde-code). Accents and case do not count, and in scripts without spaces
 * nor do the beginnings of words.
 *
 * Sources: the translations of Unicode CLDR, Laravel Lang, devise-i18n,
 * django-allauth, Appwrite, Authgear, Hanko, Wire and the Matrix
 * Authentication Service (which word a language uses), and dictionaries.
 */
export const words: Readonly<Record<string, Partial<Readonly<Record<Category, string>>>>> = {
  en: {
    otp: "passcode, otp. otps. one-time password, one time password, onetime password, verification number, authentication number, one-time code, one time code, single-use code, 2fa code",
    code: "code., codes., pass code, pin., pin code, temporary password, passphrase, security number, access key, login key",
    once: "one-time, one time, single-use, single use, security, secure, 2fa, two-step, two-factor, two factor, two step, multi-factor, mfa, 2-step, authenticat, identity, identify, passwordless",
    soon: "expire, valid for, valid until, minutes, mins. don't share, do not share, never share, enter, use. use this",
    verify:
      "verif, confirm, activat, validat, complete your registration, complete registration, complete your sign, finish signing, finish setting, finish your registration, complete your account, e-mail address is correct",
    login:
      "log in, login, log-in, log into, log you in, logging in, logon, log on to, sign in, sign-in, signin, sign into, signing in, sign you in, magic link, access your account, continue to",
    reset: "reset, recover, forgot, forgotten, set a new, choose a new, create a new",
    password: "password",
    invite:
      "invit, join your team, join the team, join the workspace, join the org, join us on, has added you, added you to, accept the invi, become a member, shared a",
    other:
      "order, invoice, receipt, tracking, shipment, shipping, delivery number, parcel, package, ticket, booking, reservation, reference, ref. ref:, ref #, confirmation number, confirmation #, customer number, customer id, customer no, client number, account number, account id, account no, account ending, ending in, member number, membership, member id, policy number, zip, postal code, postcode, post code, country code, area code, dial, dialling code, dialing code, phone, telephone, tel. tel:, fax, call. call us, whatsapp, mobile number, error code, error, exit code, diagnostic-code, status code, return code, source code, qr code, qr-code, barcode, bar code, code of conduct, dress code, code review, code block, code base, codebase, code sample, code owner, promo code, sort code, bank code, routing, swift, iban, bic. vat. vat number, tax id, tax number, amount, total, subtotal, price, balance, sum. invoice no, case number, case id, case #, request id, request number, incident, serial, model number, part number, item number, article number, product code, product key, license key, licence key, sku, commit, build, run #, revision, version, issue #, pull request, room, gate. seat, flight, meeting id, meeting number, conference id, webinar id, dial-in, passcode for the meeting, user id, userid, readers, subscribers, followers, copies, license number, registration number, hrb, transaction, payment id, po number, po box, p.o.box, purchase, patient, application number, application id, confirmation code for your booking, record locator, pnr. check-in, id number, employee, student number, survey, pickup, pick-up, locker, tax code, course code, item code, boarding, itinerary, hotel, guest, passenger, trip. backup code, recovery code, people, street, avenue, voucher, airport, cvv. iata, suite, floor, apartment, meter number, kwh, miles, points, steps, score, station, batch, lot number",
    deal: "promo, discount, coupon, voucher, gift, % off, percent off, checkout, at check-out, off your, free shipping, sale. savings, save up, referral, refer a friend, invite code, invitation code, invite friends, invite your friends, rebate, redeem, cashback, special offer, black friday",
    foot: "unsubscribe, privacy, terms of, terms & , terms and, terms. preference, view in browser, view this email, view online, help cent, support, contact us, legal, imprint, follow us, facebook, twitter, instagram, linkedin, youtube, manage notif, notification settings, email settings, opt out, opt-out, copyright, app store, google play, download the app, learn more, faq, report abuse, report this, report spam, report a, wasn't me, was not me, didn't request, did not request, not you, blog"
  },
  de: {
    otp: "einmalpasswort, einmalkennwort, einmal-passwort, einmal-code, einmalcode, tan. mtan. smstan. pushtan. chiptan. sicherheitscode, -bestatigungscode, -verifizierungscode, anmeldecode, zugangscode",
    code: "-code., -codes., pin., sicherheitsschlussel, -kennzahl, zahlencode, prufziffer, ziffernfolge",
    once: "einmal, sicherheit, zwei-faktor, zwei-schritt, zweistufig, authentifiz, authentisier, identitat",
    soon: "minuten, gultig, lauft ab, verfallt, ablauf, niemandem, geben sie, gib den, gib diesen, eingeben",
    verify:
      "bestatig, -bestatig, verifizier, -verifizier, aktivier, -aktivier, freischalt, validier, registrierung abschl",
    login: "anmeld, einlogg, login, log-in",
    reset: "zuruckset, -zuruckset, wiederherstell, vergessen, neues passwort, neues kennwort, anderung",
    password: "passwor, -passwor, kennwort, -kennwort",
    invite: "einlad, -einlad, eingelad, beitreten, tritt ",
    other:
      "bestell, -bestell, auftrag, rechnung, -rechnung, sendung, -sendung, paket, lieferung, lieferschein, buchung, -buchung, reservierung, kundennummer, kunden-nr, kundennr, kundenkonto, vorgang, vorgangsnummer, aktenzeichen, referenz, ticket, postleitzahl, plz. telefon, tel.-nr, rufnummer, handynummer, fax, betrag, summe, gesamt, preis, fehlercode, fehlernummer, landervorwahl, vorwahl, bankleitzahl, blz. kontonummer, kontostand, steuernummer, ust-id, umsatzsteuer, mitgliedsnummer, vertragsnummer, versicherungsnummer, zimmer, quellcode, strichcode, seriennummer, artikelnummer, abholcode, amtsgericht, hausnummer, zahlerstand, kassenzeichen, mandatsreferenz, matrikelnummer, personalnummer, verwendungszweck, packstation, postfach",
    deal: "rabatt, gutschein, -gutschein, aktionscode, geschenk, -geschenk, prozent, sparen, angebot, einlosen",
    foot: "abmelden, abbestell, datenschutz, impressum, agb. nutzungsbedingung, im browser, hilfe, kontakt, einstellungen, nicht angefordert"
  },
  fr: {
    otp: "mot de passe a usage unique",
    code: "code, mot de passe temporaire",
    once: "usage unique, unique, securit, double authentification, deux facteurs, deux etapes, authentifi, identite, identifi",
    soon: "minutes, expire, valable, valide, ne partagez, saisissez, entrez, utilisez",
    verify: "verifi, confirm, activ, valid, finaliser votre inscription, terminer votre inscription",
    login: "connexion, connect, se connecter, identifier, lien magique",
    reset: "reinitialis, recuper, oubli, nouveau mot de passe, changer votre mot",
    password: "mot de passe, mots de passe",
    invite: "invit, rejoindre, rejoignez",
    other:
      "commande, facture, suivi, colis, livraison, expedition, billet, reservation, reference, numero de client, numero client, n° client, numero de compte, dossier, code postal, telephone, tel. tel :, appelez, montant, total, prix, solde, code erreur, code d'erreur, code source, code-barres, code barre, code qr, indicatif, code banque, code guichet, siret, siren, tva. rcs. chambre, vol. numero de serie, numero de contrat, numero de dossier, adherent, version",
    deal: "promo, reduction, remise, bon d'achat, cadeau, % de, offre, parrainage, soldes",
    foot: "desabonn, desinscri, confidentialite, conditions, mentions legales, aide, contact, navigateur, preference"
  },
  es: {
    otp: "contrasena de un solo uso",
    code: "codigo, clave, contrasena temporal, pin., otp., token., numero de verificacion",
    once: "un solo uso, unico uso, de uso unico, seguridad, dos pasos, dos factores, doble factor, autentica, autentifica, identidad, identificacion",
    soon: "minuto, caduca, expira, vence, valido, no compart, introdu, ingres, escrib, utili",
    verify: "verific, confirm, activ, valid, completar registro, completar tu registro, completar su registro",
    login: "inici, acced, acceso, entrar, ingresar, conectar, conexion, enlace magico",
    reset: "restablec, restaur, recuper, olvid, reinici, nueva contrasena, cambi",
    password: "contrasen, clave de acceso",
    invite: "invit, unirte, unirse, unete, unase",
    other:
      "pedido, orden. numero de orden, factura, recibo, seguimiento, rastreo, guia. paquete, envio, entrega, billete, boleto, entradas, reserva, referencia, numero de cliente, cliente, numero de cuenta, expediente, codigo postal, telefono, tel. llam, importe, total, monto, precio, saldo, codigo de error, codigo fuente, codigo de barras, codigo qr, codigo de area, codigo de pais, cif. nif. iva. habitacion, vuelo, numero de serie, poliza, socio, localizador, prefijo, codigo de reserva",
    deal: "promo, descuento, cupon, regalo, % de, oferta, rebaja, vale de, referido, canjea",
    foot: "darse de baja, dar de baja, cancelar suscrip, privacidad, terminos, condiciones, ayuda, contact, navegador, preferencia, soporte"
  },
  pt: {
    otp: "senha de uso unico, palavra-passe de uso unico",
    code: "codigo, senha temporaria, chave de acesso, pin., otp., token., senha unica",
    once: "uso unico, seguranca, dois fatores, duas etapas, dois passos, autentica, identidade",
    soon: "minuto, expira, valido, valida por, nao compartilh, nao partilh, introdu, insira, digite, utilize",
    verify: "verific, confirm, ativ, valid, concluir o registo, concluir o cadastro, completar seu cadastro",
    login: "iniciar sessao, inicio de sessao, entrar, acess, login, fazer login",
    reset: "redefin, repor a, repor palavra, repor senha, reposicao, recuper, esquec, restaur, nova senha, alterar",
    password: "senha, palavra-passe, palavra passe",
    invite: "convi, junte-se, juntar-se, entre na equipe",
    other:
      "pedido, encomenda, fatura, factura, recibo, nota fiscal, rastre, rastreio, envio, entrega, bilhete, reserva, referencia, numero de cliente, cliente, numero da conta, protocolo, codigo postal, cep. telefone, tel. ligue, valor, total, montante, preco, saldo, codigo de erro, codigo-fonte, codigo de barras, codigo qr, cnpj, cpf. nif. iva. quarto, voo. numero de serie, apolice, socio, localizador",
    deal: "promo, desconto, cupom, cupao, cupão, vale-presente, presente, % de, oferta, indique um",
    foot: "cancelar inscri, descadastr, privacidade, termos, condicoes, ajuda, contato, contacto, navegador, preferencia, suporte"
  },
  it: {
    otp: "password monouso",
    code: "codice, codici, password temporanea, pin., otp.",
    once: "monouso, una volta, sicurezza, due fattori, due passaggi, autentica, identita",
    soon: "minuti, scade, scadra, valido, non condivid, inserisci, inserire, digita, utilizza",
    verify: "verific, conferm, attiv, convalid, valid, completa la registrazione",
    login: "acced, accesso, login, entra, collegati, collegarti",
    reset: "reimpost, ripristin, recuper, dimentic, nuova password, cambia, reset",
    password: "password, parola d'ordine",
    invite: "invit, unisciti, partecipa",
    other:
      "ordin, fattura, ricevuta, tracciamento, tracking, spedizione, pacco, consegna, biglietto, prenotazione, riferimento, codice cliente, numero cliente, numero di conto, pratica, codice postale, cap. telefono, tel. chiama, importo, totale, prezzo, saldo, codice errore, codice di errore, codice sorgente, codice a barre, codice qr, codice fiscale, partita iva, p.iva, camera, stanza, volo, numero di serie, polizza, tessera, iban",
    deal: "promo, sconto, coupon, buono, regalo, % di, offerta, saldi",
    foot: "annulla iscri, cancella iscri, disiscri, privacy, termini, condizioni, assistenza, contatt, browser, preferenze"
  },
  nl: {
    otp: "eenmalig wachtwoord, inlogcode, verificatiecode, bevestigingscode",
    code: "-code., -codes., pincode, toegangssleutel",
    once: "eenmalig, beveilig, veilig, tweestaps, twee-factor, tweefactor, authenticatie, identiteit",
    soon: "minuten, verloopt, geldig, deel deze, voer, vul",
    verify:
      "verif, -verif, bevestig, -bevestig, activeer, activer, valideer, voltooi je registratie, voltooi uw registratie",
    login: "inlog, log in, aanmeld, meld je aan, meld u aan",
    reset: "herstel, reset, opnieuw in, vergeten, nieuw wachtwoord, wijzig",
    password: "wachtwoord, -wachtwoord",
    invite: "uitnodig, uitgenodigd, deelnemen, word lid, lid te worden",
    other:
      "bestel, factu, zending, pakket, levering, track, boeking, reservering, klantnummer, referentie, ticket, postcode, telefoon, tel. bel. bel ons, bedrag, totaal, prijs, saldo, foutcode, broncode, barcode, streepjescode, landcode, netnummer, rekeningnummer, kvk, btw, kamer, vlucht, serienummer, artikelnummer, polisnummer, lidnummer, dossier, zaaknummer",
    deal: "korting, -korting, cadeau, kadobon, waardebon, aanbieding, actiecode, % ",
    foot: "afmelden, uitschrijven, privacy, voorwaarden, hulp, contact, browser, voorkeuren"
  },
  sv: {
    otp: "engangslosen, engangskod, verifieringskod, sakerhetskod",
    code: "-kod., -koden., -koder, pinkod",
    once: "engangs, sakerhet, tvafaktor, tvasteg, autentiser, identitet, legitimer",
    soon: "minut, upphor, giltig, gar ut, dela inte, ange, skriv",
    verify: "verifier, -verifier, bekraft, -bekraft, aktiver, validera, slutfor registrer",
    login: "logga in, inlogg, loggar in",
    reset: "aterstall, -aterstall, glomt, nytt losen, byt losen, byta losen, andra losen, byt ditt, byta ditt",
    password: "losenord, -losenord",
    invite: "inbjud, bjudit in, bjuder in, ga med",
    other:
      "order, bestall, faktura, kvitto, spara, sparnings, paket, leverans, forsandelse, biljett, bokning, referens, kundnummer, arende, postnummer, telefon, ring. belopp, summa, totalt, pris, saldo, felkod, kallkod, streckkod, qr-kod, landskod, riktnummer, kontonummer, personnummer, organisationsnummer, org.nr, rum. serienummer, artikelnummer, ocr, bankgiro, plusgiro",
    deal: "rabatt, kupong, presentkort, gava, erbjudande, kampanj, varvning",
    foot: "avregistr, avsluta prenum, avprenumer, integritet, villkor, hjalp, kontakt, webblasare"
  },
  da: {
    otp: "engangskode, bekræftelseskode",
    code: "-kode., -koden., -koder., engangsadgang, -kodeord til engangs",
    once: "engangs, sikkerhed, tofaktor, to-faktor, totrins, autentific, identitet, godkend",
    soon: "minut, udlob, gyldig, del ikke, indtast, skriv, brug",
    verify: "verific, bekraft, bekræft, -bekræft, aktiver, valider, godkend",
    login: "log ind, login, logge ind, logger ind",
    reset: "nulstil, -nulstil, gendan, glemt, ny adgangskode, skift, ændre",
    password: "adgangskode. adgangskoden, kodeord, -adgangskode",
    invite: "inviter, invitation, inviteret, deltag",
    other:
      "ordre, bestilling, faktura, kvittering, sporing, pakke, forsendelse, levering, billet, reservation, booking, reference, kundenummer, sagsnummer, postnummer, telefon, tlf, ring. belob, beløb, i alt, pris, saldo, fejlkode, kildekode, stregkode, qr-kode, landekode, kontonummer, cvr, moms, værelse, serienummer, varenummer",
    deal: "rabat, kupon, gavekort, gave, tilbud, kampagne",
    foot: "afmeld, privatliv, vilkar, vilkår, hjælp, kontakt, browser"
  },
  nb: {
    otp: "engangspassord, engangskode, bekreftelseskode",
    code: "-kode., -koden., -koder.",
    once: "engangs, sikkerhet, tofaktor, totrinns, to-faktor, autentiser, identitet",
    soon: "minutt, utloper, utløper, gyldig, ikke del, skriv inn, tast inn, oppgi, bruk",
    verify: "verifiser, verifikasjon, bekreft, -bekreft, aktiver, valider, fullfør registrering",
    login: "logg inn, logge inn, innlogg, palogg, pålogg",
    reset: "tilbakestill, nullstill, gjenopprett, glemt, nytt passord, endre",
    password: "passord, -passord",
    invite: "inviter, invitasjon, bli med, bli medlem",
    other:
      "ordre, bestilling, faktura, kvittering, sporing, pakke, forsendelse, levering, billett, bestillings, booking, referanse, kundenummer, saksnummer, postnummer, telefon, tlf, ring. belop, beløp, totalt, sum. pris, saldo, feilkode, kildekode, strekkode, landkode, kontonummer, org.nr, mva, rom. serienummer",
    deal: "rabatt, kupong, gavekort, gave, tilbud, kampanje",
    foot: "avmeld, personvern, vilkar, vilkår, hjelp, kontakt, nettleser"
  },
  nn: {
    code: "-kode. -koden.",
    once: "eingongs, tryggleik, tofaktor, autentiser",
    soon: "minutt, gar ut, går ut, gyldig, skriv inn",
    verify: "verifis, verifikasjon, stadfest, bekreft, aktiver",
    login: "logge på, logg inn, logg på, innlogg, pålogg",
    reset: "tilbakestill, nullstill, gløymt, nytt passord, endre",
    password: "passord",
    invite: "inviter, invitasjon, bli med"
  },
  is: {
    code: "-koð, -kóð, -kodi. -kodinn, einnota, pin-numer, talnarod",
    once: "oryggis, einnota, tveggja, audkenn, auðkenn",
    soon: "minut, rennur, gildir, sladu, sláðu",
    verify: "staðfest, stadfest, virkja",
    login: "innskra, skra þig inn, skraðu þig inn, skrá inn, skrá þig inn",
    reset: "endurstill, endursetja, gleymt, nytt lykilord, breyta",
    password: "lykilorð, aðgangsorð",
    invite: "boð, bjod, bauð",
    other:
      "pöntun, pantan, reikning, sending, bókun, tilvísun, viðskiptanúmer, póstnúmer, sími, upphæð, samtals, verð, villukóð, kennitala",
    deal: "afslátt, afslatt, gjafa, tilboð"
  },
  fo: {
    code: "váttanarkot, kota. kotu. koda. kodu.",
    verify: "vátta, vatta, stadfest",
    login: "rita inn, ritarinn, innrit",
    reset: "nullstilla, endurseta, gloymt",
    password: "loyniord, loyniorð",
    invite: "innbjóð, innbjoð",
    soon: "minutt",
    other: "bíleggin, faktura, telefon"
  },
  fi: {
    otp: "kertakayttokoodi, vahvistuskoodi",
    code: "-koodi, -tunnusluku, -kertakayttoi, -avainluku, pin-",
    once: "kertakaytto, turva, kaksivaihe, todenn, tunnist, henkilollisyy",
    soon: "minuut, vanhen, voimassa, syota, anna, ala jaa",
    verify: "vahvista, vahvistu, varmenna, varmennus, aktivo, vahvist",
    login: "kirjaud, kirjautu, sisaankirj, sisäänkirj",
    reset: "palauta, palautus, nollaa, nollau, unohd, uusi salasana, vaihda, vaihto",
    password: "salasan",
    invite: "kutsu, liity",
    other:
      "tilaus, tilauks, lasku, kuitti, seuranta, lahetys, lähetys, paketti, toimitus, lippu, varaus, varauks, viite, asiakasnumero, postinumero, puhelin, puh. soita, summa, yhteensa, hinta, saldo, virhekoodi, lahdekoodi, viivakoodi, qr-koodi, maakoodi, suuntanumero, tilinumero, y-tunnus, sarjanumero, huone, jasennumero",
    deal: "alennus, alennuks, kuponki, lahjakortti, lahja, tarjous, etukoodi, kampanja",
    foot: "peruuta tilaus, tietosuoja, ehdot, ohje, ota yhteytta, selaimessa"
  },
  et: {
    code: "-kood. -koodi, -koodid, uhekordne parool",
    once: "uhekordne, uhekordse, turva, kaheastmeli, kahetasemeli, autentimi, isikusamasus",
    soon: "minut, aegub, kehtib, sisesta, ara jaga",
    verify: "kinnita, kinnitu, verifitseeri, aktiveeri",
    login: "logi sisse, sisselog, sisse log, sisenemi",
    reset: "lahtesta, taasta, taassead, unusta, uus parool, muuda",
    password: "parool, salasona, salasõna",
    invite: "kutse, kutsu, liitu",
    other:
      "tellimus, tellimuse, arve, kviitung, jalgimis, pakk. paki. saadetis, saadetise, pilet, broneering, viitenumber, kliendinumber, postiindeks, sihtnumber, telefon, summa, kokku, hind. veakood, vootkood, triipkood, kontonumber, registrikood, isikukood, tuba",
    deal: "soodus, allahindlus, kupong, kinkekaart, kingitus, pakkumi",
    foot: "loobu, privaatsus, tingimus, abi. kontakt"
  },
  lv: {
    code: "kod. kods. kodu. koda. kodam, vienreizej, pin-",
    once: "vienreiz, drosib, divpakap, divu faktoru, autentifik, identitat",
    soon: "minut, derig, beidzas, beigsies, neizpaud, ievad",
    verify: "verifik, apstiprin, aktiviz, parbaud",
    login: "pieteik, pierakst, ieiet, ielogo, piesledz",
    reset: "atiestat, atjaun, aizmirs, nomain, jaunu paroli, mainit",
    password: "parol",
    invite: "ielug, uzaicin, pievieno",
    other:
      "pasutij, rekin, kvits, izsekos, sutij, pakas, bilet, rezervac, atsauce, klienta num, pasta indeks, talrun, talr, zvan, summa, kopa, cena, atlikums, kludas kod, avota kod, svitrkod, valsts kod, konta num, reg. nr, pvn",
    deal: "atlaid, kupon, davan, piedavaj",
    foot: "atteik, privat, noteikum, palidz, kontakt"
  },
  lt: {
    code: "kodas, koda. kodo. kodu. kodai, -kodas. -koda. vienkartinis slaptazodis, vienkartini slaptazodi, pin.",
    once: "vienkartin, saugum, dvieju veiksniu, dvieju zingsniu, dvieju etapu, autentifik, tapatyb",
    soon: "minu, galioj, nesibaig, baigsis, pasibaig, iveskite, ivesk, nesidaly",
    verify: "patvirtin, patikrin, verifik, aktyvin, aktyvuo",
    login: "prisijung, jungiant, prisijungim",
    reset: "atstat, atkur, pamirs, nauja slaptazodi, pakeis, keit, keist",
    password: "slaptazod",
    invite: "kviet, pakviet, prisijunk prie komand",
    other:
      "uzsakym, saskait, cekis, sekim, siunt, pristatym, biliet, rezervac, nuorod. kliento num, pasto kod, telefon, tel. skambin, suma, is viso, kaina, likutis, klaidos kod, saltinio kod, bruksnin, salies kod, saskaitos num, imones kod, asmens kod, pvm, kambar",
    deal: "nuolaid, kupon, dovan, pasiulym",
    foot: "atsisak, privatum, salyg, pagalb, kontakt, susisiek"
  },
  pl: {
    otp: "haslo jednorazowe, hasla jednorazowego",
    code: "kod., kodu., kodem., kody., pin., numer pin",
    once: "jednorazow, bezpiecz, dwuetapow, dwuskladnikow, uwierzytelni, tozsamosc, autoryzac",
    soon: "minut, wygas, wazny, wazna, nie udostepni, wpisz, wprowadz, podaj, uzyj",
    verify: "weryfik, potwierdz, aktyw, zweryfik, dokoncz rejestr",
    login: "zalogow, zaloguj, logowan, loguj",
    reset: "reset, zresetow, zresetuj, odzysk, przypomn, zapomnia, nowe haslo, zmian, zmien, przywroc",
    password: "haslo, hasla, hasel, hasle",
    invite: "zapros, zaprasz, dolacz",
    other:
      "zamowieni, faktur, paragon, sledzen, przesylk, paczk, dostaw, bilet, rezerwacj, referenc, numer klienta, nr klienta, zgloszeni, kod pocztow, telefon, tel. zadzwon, kwot, suma, razem, cena, saldo, kod bled, blad, kod zrodlow, kod kresk, kod qr, kod kraju, kierunkowy, numer konta, nip. regon, pokoj, pokoju, lot. numer seryjny, polis",
    deal: "rabat, znizk, kupon, prezent, podarunk, promocj, promocyjn, ofert, % ",
    foot: "wypisz, zrezygnuj, anuluj subskr, prywatnos, regulamin, warunki, pomoc, kontakt, przegladar"
  },
  cs: {
    otp: "jednorazove heslo",
    code: "kod., kodu., kodem., kody., pin.",
    once: "jednorazov, bezpec, dvoufaktor, dvoufazov, dvoukrok, autentiz, totozn",
    soon: "minut, vyprsi, platn, nesdilejte, zadejte, zadej, vlozte, pouzijte",
    verify: "overov, overen, overit, overte, potvrd, potvrz, aktiv, verifik, dokonc",
    login: "prihlas, prihlaseni",
    reset: "obnov, reset, zapomen, nove heslo, zmen",
    password: "hesl",
    invite: "pozvan, pozva, zve vas, pripojit se, pripojte",
    other:
      "objednav, faktur, uctenk, sledov, zasil, balik, doruc, jizden, vstupen, rezervac, referenc, zakaznick, cislo zakaznika, psc, telefon, tel. volejte, castk, celkem, cena, zustat, chybovy kod, kod chyby, zdrojovy kod, carovy kod, qr kod, smerove cislo, predvolba, cislo uctu, ico. dic. variabilni, pokoj, seriove, smlouv, pojist",
    deal: "slev, kupon, poukaz, darek, darkov, nabidk, promo",
    foot: "odhlas, ochrana osob, soukrom, podmink, napoved, kontakt, prohlizec"
  },
  sk: {
    otp: "jednorazove heslo",
    code: "kod., kodu., kodom., kody., pin.",
    once: "jednorazov, bezpec, dvojfaktor, dvojfazov, dvojstup, autentif, totozn",
    soon: "minut, vyprsi, platn, nezdielajte, zadajte, zadaj, vlozte, pouzite",
    verify: "overov, overen, overit, overte, potvrd, aktiv, verifik, dokonc",
    login: "prihlas",
    reset: "obnov, reset, zabudnut, zabudli, nove heslo, zmen",
    password: "hesl",
    invite: "pozvan, pozva, pripojit sa, pripojte",
    other:
      "objednav, faktur, pokladnic, sledov, zasiel, balik, doruc, listok, vstupen, rezervac, referenc, zakaznick, psc, telefon, volajte, suma, sum. celkom, spolu, cena, zostat, chybovy kod, kod chyby, zdrojovy kod, ciarovy kod, predvolba, cislo uctu, ico. dic. variabilny, izba, seriove, zmluv, poist",
    deal: "zlav, kupon, poukaz, darcek, darcekov, ponuk",
    foot: "odhlas, ochrana osob, sukrom, podmienk, pomoc, kontakt, prehliadac"
  },
  sl: {
    code: "koda. kodo. kode. kodi. pin. enkratno geslo, geslo za enkratno",
    once: "enkrat, varnost, dvostop, dvofaktor, dvofaz, avtentik, istovet, identit",
    soon: "minut, potec, velja, ne deli, vnesi, vpisi, uporabi",
    verify: "preverit, preverj, preveri, potrdi, potrdit, potrjev, aktiv, verifik",
    login: "prijav",
    reset: "ponastav, obnov, pozab, novo geslo, spremen",
    password: "gesl",
    invite: "povab, vabilo, vabi, pridruz",
    other:
      "narocil, racun st, racun:, faktur, sledenj, posiljk, paket, dostav, vstopnic, rezervacij, referenc, stevilka stranke, postna stev, telefon, pokli, znesek, skupaj, cena, stanje, koda napake, izvorna koda, crtna koda, drzavna koda, davcna, trr. soba, serijsk",
    deal: "popust, kupon, daril, ponudb, promocij",
    foot: "odjav, zasebnost, pogoji, pomoc, kontakt, brskalnik"
  },
  hr: {
    code: "kod. koda. kodu. kodom. kodovi, jednokratna lozinka, jednokratnu lozinku, pin.",
    once: "jednokrat, sigurnos, bezbednos, dvofaktor, dvostruk, u dva koraka, autentifik, autentik, identitet",
    soon: "minut, istjec, istec, istic, vrijedi, vazi, vazec, ne dijelite, ne delite, unesi, unesite, upisite",
    verify: "verifik, potvrd, potvrdi, provjer, proveri, aktiv, ovjer",
    login: "prijav, pristup, ulogu, logov",
    reset:
      "resetir, resetov, resetuj, ponistav, ponistit, obnov, zaborav, nova lozink, novu lozink, promijen, promen, povrat, vracanj",
    password: "lozink, sifr, zapork",
    invite: "poziv, pozvan, pridruz",
    other:
      "narudzb, porudzb, racun br, racun:, faktur, pracenj, posiljk, paket, dostav, isporuk, ulaznic, kart. rezervacij, referenc, broj kupca, korisnicki broj, postanski broj, telefon, tel. nazovite, pozovite, iznos, ukupno, cijena, cena, stanje, kod greske, kod pogreske, izvorni kod, barkod, bar kod, oib. pib. jmbg, soba, serijski",
    deal: "popust, kupon, poklon, ponud, promo",
    foot: "odjav, privatnost, uvjeti, uslovi, pomoc, kontakt, podrsk, preglednik"
  },
  sr: {
    code: "код. кода. коду. кодом, кôд, једнократна лозинк, пин.",
    once: "једнократ, безбеднос, двофактор, двострук, аутентифик, идентитет",
    soon: "минут, истич, истећ, важи, унеси, унесите, не делите",
    verify: "верифик, потврд, провер, активи, овер",
    login: "пријав, приступ, улог",
    reset: "ресет, поништ, обнов, заборав, нова лозинк, нову лозинк, промен",
    password: "лозинк, шифр",
    invite: "позив, позва, придруж",
    other:
      "поруџб, наруџб, рачун бр, фактур, праћењ, пошиљк, пакет, достав, резервациј, референц, поштански број, телефон, износ, укупно, цена, стање, код грешке, соба, серијск",
    deal: "попуст, купон, поклон, понуд, промо",
    foot: "одјав, приватност, услов, помоћ, контакт"
  },
  mk: {
    code: "еднократна лозинк, еднократната лозинк, код. кодот, кодови",
    once: "еднократ, безбеднос, двофактор, автентик, идентитет",
    soon: "минут, истек, важи, внесете, внеси",
    verify: "верифик, потврд, проверк, активи",
    login: "најав, пристап",
    reset: "ресет, обнов, заборав, нова лозинк, промен",
    password: "лозинк",
    invite: "покан, придруж",
    other: "нарачк, фактур, пратк, пакет, резервациј, поштенски, телефон, износ, вкупно, цена",
    deal: "попуст, купон, подарок, понуд"
  },
  bg: {
    code: "код. кода. кодът. кодове, пин. еднократна парола, еднократната парола",
    once: "еднократ, сигурност, двуфактор, двустепен, удостоверя, автентик, самоличност",
    soon: "минут, изтич, изтеч, валид, въведете, въведи, не споделя",
    verify: "верифик, потвърд, провер, актив, валидир",
    login: "вход, влез, влиз, впише, вписв",
    reset: "нулир, възстанов, забравен, нова парола, смян, промен, промян",
    password: "парол",
    invite: "покан, присъедин",
    other:
      "поръчк, фактур, касов, проследяв, пратк, колет, доставк, билет, резервац, референ, клиентски номер, пощенски код, телефон, тел. обадете, сума, общо, цена, баланс, код за грешка, код на грешка, изходен код, баркод, код на държава, еик. булстат, ддс, стая, сериен, полиц",
    deal: "отстъп, намален, купон, подарък, ваучер, промо, оферт",
    foot: "отпис, абонамент, поверител, услови, помощ, контакт, браузър"
  },
  ru: {
    otp: "одноразовый пароль, одноразового пароля",
    code: "код., кода., коду., кодом., коды., пин., пин-код, пинкод",
    once: "одноразов, безопасн, двухфактор, двухэтап, аутентифик, личност, авторизац",
    soon: "минут, истека, истеч, действит, действу, никому, введите, введи, используйте, не сообщ",
    verify:
      "верифик, подтвер, проверк, проверит, актив, завершить регистрац, завершения регистрац, завершите регистрац",
    login: "вход, войти, войд, входа, авториз, логин, зайти",
    reset: "сброс, восстанов, забыл, нов пароль, новый пароль, смен, измен",
    password: "парол",
    invite: "приглаш, пригласи, присоедин, вступить",
    other:
      "заказ, счет, счёт, квитанц, чек. отслежив, трек, посылк, отправлен, доставк, билет, брон, номер клиента, лицевой, обращени, заявк, тикет, почтовый индекс, индекс. телефон, тел. звоните, сумм, итого, всего, цена, стоимост, баланс, код ошибк, ошибк, исходный код, штрих, код страны, инн. кпп. огрн. бик. ндс. расчетный, комнат, номер комнаты, рейс, серийн, полис, договор, версия, артикул, номер карты",
    deal: "промо, скидк, купон, подар, сертификат, акци, % , распродаж, реферал, бонус",
    foot: "отпис, конфиденц, услови, помощ, поддержк, контакт, браузер, настройк"
  },
  uk: {
    otp: "одноразовий пароль, одноразового пароля",
    code: "код., коду., кодом., коди., пін., пін-код",
    once: "одноразов, безпек, двофактор, двоетап, автентифік, особ, авторизац",
    soon: "хвилин, спли, закінч, дійсн, нікому, введіть, введи, не повідомля",
    verify: "верифік, підтвер, перевір, актив, завершити реєстрац",
    login: "вхід, входу, увійти, увійд, ввійти, авториз",
    reset: "скин, скид, віднов, забул, новий пароль, змін",
    password: "парол",
    invite: "запрош, запроси, приєдн, долуч",
    other:
      "замовлен, рахун, квитанц, чек. відстеж, посилк, відправлен, доставк, квит, бронюв, номер клієнта, звернен, заявк, поштовий індекс, телефон, тел. телефонуйте, сум, разом, всього, цін, вартіст, баланс, код помилк, помилк, вихідний код, штрих, код країни, єдрпоу, пдв, кімнат, рейс, серійн, поліс, договір",
    deal: "промо, знижк, купон, подарун, сертифікат, акці, розпродаж",
    foot: "відпис, конфіденц, умов, допомог, підтримк, контакт, браузер"
  },
  be: {
    code: "код. кода. коду. кодам. аднаразовы пароль",
    once: "аднаразов, бяспек, двухфактар, аўтэнтыф",
    soon: "хвілін, сканч, страціць, дзейн, увядзіце",
    verify: "верыфік, пацвер, пацвяр, праверк, актыв",
    login: "уваход, увайсці, увайдз, аўтарыз",
    reset: "скід, аднаў, аднав, забыл, новы пароль, змян, змен",
    password: "парол",
    invite: "запрашэн, запрасі, далуч",
    other:
      "заказ, рахун, пасылк, дастаўк, білет, браніра, паштовы індэкс, тэлефон, сума, усяго, цана, кошт, код памылк",
    deal: "зніжк, купон, падарун, прома"
  },
  el: {
    code: "κωδικ, κωδ. pin. otp.",
    once: "μιας χρησης, ασφαλ, δυο βηματ, δυο παραγοντ, διπλ, ταυτοτητ, ταυτοποι",
    soon: "λεπτ, ληξ, ληγ, ισχυ, εισαγ, εισαγετε, πληκτρολογ, μη μοιραζ",
    verify: "επαληθ, επιβεβαι, ενεργοπο, επικυρ",
    login: "συνδε, εισοδ, συνδεθ",
    reset: "επαναφορ, επαναφερ, ανακτ, ξεχασ, νεο κωδικ, αλλαγ, αλλαξ",
    password: "κωδικ προσβ, κωδικο προσβ, κωδικου προσβ, κωδικος προσβ, συνθηματικ",
    invite: "προσκλ, προσκαλ, συμμετ",
    other:
      "παραγγελι, τιμολογ, αποδειξ, παρακολουθησ, αποστολ, δεμα, παραδοσ, εισιτηρι, κρατησ, αναφορ, αριθμος πελατη, ταχυδρομικ, τ.κ. τηλεφων, τηλ. καλεστε, ποσο. συνολο, τιμη, υπολοιπο, κωδικος σφαλμ, σφαλμ, γραμμωτ, αφμ. δωματι, πτηση, σειριακ",
    deal: "εκπτωσ, κουπον, δωρο, δωροκαρτ, δωροεπιταγ, προσφορ, προωθητ",
    foot: "διαγραφ, απεγγραφ, απορρητ, οροι, βοηθει, επικοινων, υποστηριξ"
  },
  ro: {
    code: "cod. codul, codului, coduri, parola unica, parola de unica, pin.",
    once: "unica folosinta, o singura, securitate, sigur, doi factori, doi pasi, autentific, identitat",
    soon: "minut, expira, valabil, introdu, nu distribui, nu impartas, foloseste, utiliza",
    verify: "verific, confirm, activ, valid, finaliza",
    login: "autentific, conect, logare, logati, intra in",
    reset: "reset, recuper, uitat, restabil, parola noua, schimb, reinit",
    password: "parol",
    invite: "invit, alatur",
    other:
      "comand, factur, bon. chitant, urmarire, awb, colet, livrar, expedi, bilet, rezervar, referint, numar client, cod client, cod postal, telefon, tel. sunati, suma, total, pret. pretul, sold. cod de eroare, cod eroare, cod sursa, cod de bare, prefix, cui. cif. tva. camera, zbor, serie, polita",
    deal: "promo, reducer, cupon, cadou, voucher, oferta",
    foot: "dezabon, confidential, termeni, conditii, ajutor, contact, browser, suport"
  },
  hu: {
    otp: "egyszeri jelszo",
    code: "-kod., -kodot, -kodja, -kodjat, -kodod, -kodunk, -kodok, -kodra, -koddal, -kodjaval, pin-kod",
    once: "egyszeri, egyszer hasznalat, biztonsag, ketlepcs, ketfaktor, hitelesit, azonosit",
    soon: "perc, lejar, ervenyes, adja meg, add meg, irja be, ird be, ne ossza",
    verify: "ellenorz, megerosit, visszaigazol, aktival, igazol, -megerosit",
    login: "bejelentk, belep, belepes",
    reset: "visszaallit, helyreallit, elfelejt, uj jelszo, modosit, -visszaallit",
    password: "jelsz",
    invite: "meghiv, meghivo, csatlakoz",
    other:
      "rendeles, szamla, nyugta, nyomkovet, csomag, kuldemeny, szallitas, jegy. foglalas, hivatkozas, ugyfelszam, vevokod, iranyitoszam, telefon, tel. hivja, osszeg, osszesen, vegosszeg, egyenleg, hibakod, forraskod, vonalkod, qr-kod, orszagkod, korzetszam, szamlaszam, adoszam, szoba, jarat, sorozatszam, kotveny",
    deal: "kedvezmeny, kupon, ajandek, utalvany, promocio",
    foot: "leiratkoz, adatved, feltetel, sugo, kapcsolat, bongeszo"
  },
  tr: {
    otp: "tek kullanimlik sifre, dogrulama kodu, onay kodu",
    code: "kod., kodu., kodun, kodunu, koduyla, kodlar, pin.",
    once: "tek kullanimlik, tek seferlik, guvenlik, iki adim, iki asamali, iki faktor, dogrulama, kimlik",
    soon: "dakika, gecerli, sona er, suresi, girin, giriniz, paylasmay, kullanin",
    verify: "dogrula, onay, etkinles, aktives, teyit",
    login: "giris, oturum ac",
    reset: "sifirla, kurtar, unut, yeni sifre, yeni parola, degistir, yenile",
    password: "sifre, parola",
    invite: "davet, katil",
    other:
      "siparis, fatura, fis. makbuz, takip, kargo, paket, teslimat, gonderi, bilet, rezervasyon, referans, musteri no, musteri numara, posta kodu, telefon, tel. arayin, tutar, toplam, fiyat, bakiye, hata kodu, kaynak kod, barkod, karekod, qr kod, ulke kodu, alan kodu, vergi, tckn, tc kimlik, oda. ucus, seri no, police",
    deal: "indirim, kupon, hediye, kampanya, promosyon, firsat, yuzde",
    foot: "abonelikten, gizlilik, kosul, sartlar, yardim, iletisim, tarayici, destek"
  },
  az: {
    code: "kod. kodu, kodun, birdefelik",
    once: "birdəfəlik, birdefelik, təhlükəsiz, iki faktor, iki addim, autentifik, identifik",
    soon: "dəqiqə, deqiqe, etibar, daxil edin, başa çat, basa cat",
    verify: "təsdiq, doğrula, dogrula, yoxla, aktivləs, verifik",
    login: "giriş, daxil ol, giris",
    reset: "sıfırla, sifirla, bərpa, unut, yeni şifrə, yeni parol, dəyiş",
    password: "şifrə, parol",
    invite: "dəvət, devet, qoşul",
    other:
      "sifariş, faktura, qəbz, izləmə, bağlama, çatdır, bilet, rezerv, müştəri n, poçt indeks, telefon, məbləğ, cəmi, qiymət, balans, xəta kodu, otaq",
    deal: "endirim, kupon, hədiyyə, kampaniya, promo"
  },
  kk: {
    code: "код. коды. кодты, кодын, кодыңыз, құпия код, бір реттік",
    once: "бір рет, қауіпсіз, екі факторлы, екі қадам, аутентифик, сәйкестендір",
    soon: "минут, жарамды, аяқтал, енгіз",
    verify: "растау, раста, тексер, белсендір, верифик",
    login: "кіру, кіріңіз, кіргіз, авторлан",
    reset: "қалпына, ұмыт, жаңа құпия, ауыстыр, өзгерт",
    password: "құпиясөз, құпия сөз, пароль",
    invite: "шақыр, қосыл",
    other:
      "тапсырыс, шот, төлем, жөнелт, жеткіз, билет, бронь, брон, пошта индекс, телефон, сома, барлығы, баға, қате код",
    deal: "жеңілдік, купон, сыйлық, промо"
  },
  ky: {
    code: "код. коду, кодун, бир жолку",
    once: "бир жолку, коопсуз, эки факторлуу, эки баскыч, аутентифик",
    soon: "мүнөт, жарактуу, бүтөт, киргиз",
    verify: "ырасто, ыраста, тастыкт, текшер, активд",
    login: "кирүү, кириңиз, кируу",
    reset: "калыбына, унут, жаңы сырсөз, алмаштыр, өзгөрт, кайра кой",
    password: "сырсөз, пароль",
    invite: "чакыр, кошул",
    other: "буйрутма, заказ, эсеп, жеткирүү, билет, бронь, телефон, сумма, жалпы, баа",
    deal: "арзандат, купон, белек, промо"
  },
  uz: {
    code: "kod. kodi. kodini, kodingiz, kodni, код. коди, кодини, bir martalik",
    once: "bir martalik, xavfsizlik, ikki bosqich, ikki faktor, autentifik, haqiqiy",
    soon: "daqiqa, amal qil, tugay, kiriting",
    verify: "tasdiq, tekshir, faollas, тасдиқ",
    login: "kirish, tizimga",
    reset: "tiklash, tiklas, unut, yangi parol, almashtir, ozgartir",
    password: "parol, пароль",
    invite: "taklif, qoshil, qo'shil",
    other: "buyurtma, hisob-faktura, chek. yetkaz, chipta, bron. pochta indeks, telefon, summa, jami, narx, xato kod",
    deal: "chegirma, kupon, sovga, sovg, promo"
  },
  tg: {
    code: "рамз. рамзи, код. коди",
    once: "якдафъа, якбора, амният",
    soon: "дақиқа, эътибор, ворид",
    verify: "тасдиқ, санҷ, фаъол",
    login: "воридшав, даромад, ворид шав",
    reset: "барқарор, фаромӯш, иваз",
    password: "гузарвожа, парол, рамзи",
    invite: "даъват",
    other: "фармоиш, ҳисоб, телефон, маблағ, ҳамагӣ, нарх"
  },
  tk: {
    code: "kod. kody, kodyny",
    verify: "tassykla, barla",
    login: "giriş, giriň",
    reset: "dikelt, täzeden",
    password: "parol, açar söz",
    invite: "çakyl",
    soon: "minut",
    other: "sargyt, telefon, jemi"
  },
  mn: {
    code: "код. кодыг, кодоо, нэг удаагийн",
    once: "нэг удаагийн, аюулгүй, хоёр шат, нэвтрэлт танилт",
    soon: "минут, хугацаа, хүчинтэй, оруул",
    verify: "баталгааж, баталг, шалга, идэвхж",
    login: "нэвтр",
    reset: "сэргээ, дахин тохир, мартсан, шинэчл, өөрчл, шинэ нууц",
    password: "нууц үг",
    invite: "урилг, урьж, нэгд",
    other: "захиалг, нэхэмжл, хүргэлт, илгээмж, тасалбар, утас, дүн, нийт, үнэ, алдааны код",
    deal: "хөнгөлөлт, купон, бэлэг"
  },
  hy: {
    code: "կոդ, գաղտնագիր, ծածկագիր",
    once: "մեկանգամյա, անվտանգ, երկփուլ, երկու գործոն, վավերաց, նույնական",
    soon: "րոպե, ուժի մեջ, վավեր է, լրանում, մուտքագր",
    verify: "հաստատ, վավերաց, ստուգ, ակտիվաց",
    login: "մուտք, մուտքի",
    reset: "վերականգն, վերակայ, մոռաց, նոր գաղտնաբառ, փոխ",
    password: "գաղտնաբառ",
    invite: "հրավ, միան",
    other: "պատվեր, հաշիվ-ապրանքագիր, առաքում, տոմս, ամրագր, փոստային, հեռախոս, գումար, ընդամենը, գին",
    deal: "զեղչ, կուպոն, նվեր"
  },
  ka: {
    code: "კოდ, ერთჯერადი პაროლ",
    once: "ერთჯერად, უსაფრთხო, ორფაქტორ, ორეტაპ, ავთენტიფ, ავტორიზ, იდენტიფ",
    soon: "წუთ, ვადა, მოქმედ, შეიყვან, იწურება",
    verify: "ვერიფიკ, დადასტურ, დაადასტურ, დამოწმ, გააქტიურ, აქტივაც, გადაამოწმ",
    login: "შესვლ, შედი, ავტორიზაც, სისტემაში შე",
    reset: "აღდგენ, აღადგინ, გადატვირთ, დაგავიწყ, ახალი პაროლ, შეცვ, განახლ",
    password: "პაროლ",
    invite: "მოწვევ, მოგიწვი, შემოუერთდ, გაწევრიან",
    other: "შეკვეთ, ინვოის, ქვითარ, მიტან, ამანათ, ბილეთ, ჯავშან, საფოსტო, ტელეფონ, თანხა, ჯამი, ფას, შეცდომის კოდ",
    deal: "ფასდაკლ, კუპონ, საჩუქ, პრომო"
  },
  sq: {
    code: "kod. kodi. kodin, kodit, fjalekalim nje",
    once: "njeperdorim, nje here, siguri, dy hapa, dy faktor, autentifik, identitet",
    soon: "minut, skado, vlefshem, shkruaj, fut kodin, vendos",
    verify: "verifik, konfirm, aktiviz, vertet, ripoho",
    login: "hyrje, hyni, kycu, kyçu, identifikohu, hyr ne",
    reset: "rivendos, rikuper, harrua, harruar, ndrysho, fjalekalim te ri",
    password: "fjalekalim",
    invite: "ftes, ftua, bashkohu",
    other:
      "porosi, fatur, gjurmim, pako, dergim, bilet, rezervim, referenc, kodi postar, telefon, shuma, totali, cmimi, bilanci, kodi i gabimit, dhoma",
    deal: "zbritje, kupon, dhurat, ofert, promo"
  },
  mt: {
    code: "kodici, kodiċi",
    once: "darba, sigurta",
    soon: "minuti, tiskadi, jiskadi, daħħal",
    verify: "verifik, konferm, ikkonferma, ivverifika, attiva",
    login: "idħol, idhol, dħul, illoggja",
    reset: "irrisettja, irkupr, insejt, biddel",
    password: "password",
    invite: "stedin, ingħaqad",
    other: "ordni, fattura, telefon, ammont, total, prezz"
  },
  ca: {
    code: "codi. codis. contrasenya d'un sol us, contrasenya temporal",
    once: "un sol us, seguretat, dos factors, dos passos, autentica, identitat",
    soon: "minut, caduca, expira, valid, introdu, no compart",
    verify: "verific, confirm, activ, valid",
    login: "inici de sessio, inicia sessio, iniciar sessio, acced, entra, connecta",
    reset: "restabl, recuper, oblid, reinici, canvi, nova contrasenya",
    password: "contrasenya",
    invite: "invita, convid, uneix",
    other:
      "comanda, factura, rebut, seguiment, enviament, paquet, bitllet, reserva, referencia, numero de client, codi postal, telefon, import, total, preu, saldo, codi d'error, codi font, codi de barres, habitacio",
    deal: "descompte, cupo, regal, oferta, promo",
    foot: "baixa, privacitat, condicions, ajuda, contact"
  },
  gl: {
    code: "codigo, clave. contrasinal dun so uso",
    once: "un so uso, seguridade, dous factores, dous pasos, autentica",
    soon: "minuto, caduca, expira, valido, introdu",
    verify: "verific, confirm, activ, valid",
    login: "iniciar sesion, inicio de sesion, inicia sesion, acced, entrar",
    reset: "restabl, restablec, recuper, esquec, cambi, novo contrasinal",
    password: "contrasinal",
    invite: "convid, invit, unirse, unete",
    other:
      "pedido, factura, seguimento, envio, entradas, reserva, referencia, codigo postal, telefono, importe, total, prezo",
    deal: "desconto, cupon, agasallo, promo"
  },
  oc: {
    code: "codi. code. còdi, còde",
    verify: "verific, confirm, activ",
    login: "connexion, connect, dintrar",
    reset: "reïniciali, reinicial, recuper, oblid",
    password: "senhal",
    invite: "invit, convid",
    soon: "minut, expira",
    other: "comanda, factura, telefòn, total"
  },
  eu: {
    code: "-kode. -kodea, -kodeak, erabilera bakarreko pasahitz",
    once: "erabilera bakar, segurtasun, bi urrats, bi faktore, autentif, identitate",
    soon: "minutu, iraungi, baliozko, sartu",
    verify: "egiazta, baiezta, berrets, aktiba, -egiazta",
    login: "saioa, saio-has, sarbide, sartu zure kontu, hasi saio",
    reset: "berrezar, berreskura, ahaztu, aldatu, pasahitz berri",
    password: "pasahitz",
    invite: "gonbida, elkartu, batu",
    other:
      "eskaera, faktura, jarraipen, bidalketa, txartel, erreserba, erreferentzia, posta-kode, posta kode, telefono, zenbateko, guztira, prezio, errore-kode",
    deal: "deskontu, kupoi, opari, eskaintza"
  },
  ga: {
    code: "-cód. -cod. -coid",
    once: "aonuaire, slandail, slándáil, da fhachtoir, fiordheimh",
    soon: "noimead, nóiméad, eag, iontrail, cuir isteach",
    verify: "fiorai, fíorai, fioraithe, deimhnigh, dearbh, gniomhaigh, gníomhaigh",
    login: "sinigh isteach, sinithe isteach, siniu isteach, siniiu isteach, logail isteach, síniú isteach",
    reset: "athshocr, aisghabh, dearmad, athraigh",
    password: "pasfhocal, focal faire",
    invite: "cuireadh",
    other: "ordu, sonrasc, rian, teileafon, iomlan, praghas, suim"
  },
  gd: {
    code: "còd. chòd. code.",
    verify: "dearbh",
    login: "clàraich a-steach, log a-steach",
    reset: "ath-shuidhich",
    password: "facal-faire",
    invite: "cuireadh",
    soon: "mionaid"
  },
  cy: {
    code: "cod. god. chod. codau",
    once: "untro, diogel, dau gam, dau ffactor, dilysu",
    soon: "munud, dod i ben, rhowch, nodwch",
    verify: "dilys, gwirio, cadarnh, gadarnh, actif",
    login: "mewngof, logio",
    reset: "ailos, adfer, anghof, newid",
    password: "cyfrinair",
    invite: "gwahodd, ymun",
    other: "archeb, anfoneb, olrhain, tocyn, cod post, ffon, cyfanswm, pris"
  },
  lb: {
    code: "-code. -codes.",
    verify: "verifik, verifizei, bestateg",
    login: "aloggen, umellen, mellt iech",
    reset: "zréckset, zreckset, vergiess",
    password: "passwuert",
    invite: "invitat, invitei, alued",
    soon: "minutten, gülteg, gulteg",
    other: "bestellung, rechnung, telefon, total"
  },
  af: {
    code: "-kode. -kodes, eenmalige wagwoord",
    once: "eenmalig, sekuriteit, twee-stap, tweefaktor, verifik",
    soon: "minute, verval, geldig, voer",
    verify: "verifi, bevestig, aktiveer",
    login: "meld aan, aanmeld, teken in, aanteken, teken aan",
    reset: "herstel, vergeet, nuwe wagwoord, verander",
    password: "wagwoord",
    invite: "uitnod, uitgenooi, sluit aan",
    other:
      "bestelling, faktuur, pakkie, aflewering, kaartjie, bespreking, verwysing, poskode, telefoon, bedrag, totaal, prys, foutkode",
    deal: "afslag, koepon, geskenk, spesiale aanbod"
  },
  fy: {
    code: "-koade, -code.",
    verify: "ferifi, befestig, befêstig",
    login: "oanmeld, ynlog",
    reset: "herstel, feroar, fergetten",
    password: "wachtwurd",
    invite: "utnoeg",
    soon: "minut"
  },
  eo: {
    code: "-kodo, unufoja pasvorto",
    once: "unufoj, sekur, du-faktor, du-pas, aŭtent",
    soon: "minut, eksvalid, valid, enigu, entajpu",
    verify: "kontrol, konfirm, aktiv",
    login: "ensalut",
    reset: "rekomenc, restarig, forges, novan pasvort, ŝanĝ",
    password: "pasvort",
    invite: "invit, aliĝ",
    other: "mendo, fakturo, paka, telefono, sumo, prezo",
    deal: "rabat, kupon, donac"
  },
  la: {
    code: "codex, codicem, codice. codicis",
    verify: "verific, confirm",
    login: "inire, ineundi, rationem",
    reset: "restitu, renov",
    password: "tessera, signum",
    invite: "invit",
    soon: "minut, expira"
  },
  ar: {
    otp: "كلمة مرور لمرة, كلمة المرور لمرة, رمز التحقق, رمز التأكيد",
    code: "رمز, الرمز, كود, الكود, رقم التحقق, otp.",
    once: "لمرة واحدة, أمان, الأمان, المصادقة, مصادقة, بخطوتين, ثنائي, هوية, هويتك",
    soon: "دقيقة, دقائق, صلاحي, تنتهي, صالح, أدخل, ادخل, إدخال, لا تشارك, استخدم",
    verify: "تحقق, التحقق, للتحقق, تأكيد, لتأكيد, التأكيد, للتأكيد, تفعيل, لتفعيل, توثيق, أكد, قم بتأكيد",
    login: "تسجيل الدخول, دخول, الدخول, للدخول, لتسجيل",
    reset: "إعادة تعيين, اعادة تعيين, لإعادة, إعادة ضبط, استعادة, لاستعادة, نسيت, استرداد, تغيير, لتغيير",
    password: "كلمة المرور, كلمة مرور, كلمة السر, كلمة سر",
    invite: "دعوة, الدعوة, دعاك, دعوتك, انضم, للانضمام",
    other:
      "طلب رقم, رقم الطلب, طلبك رقم, فاتورة, الفاتورة, شحنة, الشحنة, تتبع, التتبع, توصيل, تذكرة, حجز, الحجز, مرجع, رقم العميل, رقم الحساب, الرمز البريدي, رمز بريدي, هاتف, الهاتف, اتصل, مبلغ, المبلغ, إجمالي, المجموع, سعر, السعر, رصيد, رمز الخطأ, خطأ, غرفة, رحلة, ضريب",
    deal: "خصم, الخصم, قسيمة, كوبون, هدية, عرض, ترويج, بطاقة هدايا",
    foot: "إلغاء الاشتراك, الخصوصية, شروط, الشروط, مساعدة, دعم, اتصل بنا"
  },
  fa: {
    otp: "رمز یکبار, رمز یک بار, رمز پویا",
    code: "کد, رمز عبور یکبار, رمز:, رمز تایید, گذرواژه یکبار",
    once: "یکبار مصرف, یک بار مصرف, امنیت, امنیتی, دو مرحله, احراز هویت, هویت",
    soon: "دقیقه, منقضی, اعتبار, معتبر, وارد کنید, در اختیار",
    verify: "تأیید, تایید, فعال, اعتبارسنج, راستی",
    login: "ورود, وارد شوید, وارد شدن, وارد حساب",
    reset: "بازنشانی, بازیابی, تنظیم مجدد, فراموش, تغییر, رمز جدید",
    password: "رمز عبور, رمزعبور, گذرواژه, کلمه عبور, پسورد",
    invite: "دعوت, پیوست, عضو شو",
    other:
      "سفارش, فاکتور, صورتحساب, پیگیری, رهگیری, مرسوله, بسته, بلیت, بلیط, رزرو, شماره مشتری, کد پستی, کدپستی, تلفن, تماس, مبلغ, مجموع, جمع کل, قیمت, موجودی, کد خطا, کد ملی, اتاق",
    deal: "تخفیف, کوپن, هدیه, جشنواره, کد معرف",
    foot: "لغو اشتراک, حریم خصوصی, شرایط, راهنما, پشتیبانی"
  },
  ur: {
    code: "کوڈ, پن کوڈ, او ٹی پی, خفیہ نمبر",
    once: "ایک بار, سیکیورٹی, سیکورٹی, دو مرحلہ, دو عنصر, شناخت",
    soon: "منٹ, ختم ہو, میعاد, درج کریں, شیئر نہ",
    verify: "تصدیق, توثیق, فعال, ویریفا",
    login: "لاگ ان, سائن ان, داخل ہو",
    reset: "ری سیٹ, بحال, بھول, تبدیل, نیا پاس",
    password: "پاس ورڈ, پاسورڈ",
    invite: "دعوت, مدعو, شامل ہو",
    other:
      "آرڈر, انوائس, رسید, ٹریکنگ, پارسل, ترسیل, ٹکٹ, بکنگ, ریزرویشن, پوسٹل کوڈ, فون, رقم, کل. قیمت, بیلنس, ایرر کوڈ",
    deal: "رعایت, ڈسکاؤنٹ, کوپن, تحفہ, پرومو"
  },
  sd: {
    code: "ڪوڊ",
    verify: "تصديق, ويريف",
    login: "لاگ ان, سائن ان",
    reset: "ري سيٽ, بحال, وساري",
    password: "پاسورڊ",
    invite: "دعوت",
    soon: "منٽ",
    other: "آرڊر, فون, رقم"
  },
  ps: {
    code: "کوډ, کوډونه",
    verify: "تصدیق, تایید",
    login: "ننوت, داخل",
    reset: "بیا تنظیم, بیا رغ, هیر",
    password: "پاسورډ, پټنوم",
    invite: "بلنه",
    soon: "دقیق",
    other: "امر, تلیفون"
  },
  ckb: {
    code: "کۆد",
    verify: "پشتڕاست, دڵنیا",
    login: "چوونەژوور, چونه‌ ژوور",
    reset: "ڕێک, نوێ بکە, لەبیر",
    password: "وشەی نهێنی, نهێنوشە",
    invite: "بانگهێشت",
    soon: "خولەک"
  },
  ku: {
    code: "kod. koda. kodê, şîfreya yekcar",
    verify: "piştrast, pejirand, tesdîq, erêkir",
    login: "têketin, têkev",
    reset: "vesaz, vegerîn, jibîr",
    password: "şîfre",
    invite: "vexwend",
    soon: "hûrdem, deqe"
  },
  ug: {
    code: "كود, نومۇر كود",
    verify: "جەزم, دەلىل, تەستىق",
    login: "كىر",
    reset: "ئەسلىگە, قايتا",
    password: "پارول",
    invite: "تەكلىپ",
    soon: "مىنۇت"
  },
  he: {
    otp: "סיסמה חד, סיסמא חד",
    code: "קוד, הקוד, הסיסמה החד",
    once: "חד פעמ, חד-פעמ, אבטחה, דו-שלבי, דו שלבי, זיהוי, זהות",
    soon: "דקות, תוקף, בתוקף, פג, יפוג, הזן, הזינו, הקלד, אל תשתף",
    verify: "אימות, לאימות, אמת, לאמת, אישור, לאישור, אשר, לאשר, הפעל, להפעיל, הפעלת",
    login: "התחבר, להתחבר, כניסה, הכניסה, היכנס, להיכנס",
    reset: "איפוס, לאיפוס, לאפס, שחזור, לשחזור, שכחת, סיסמה חדשה, שינוי, לשנות",
    password: "סיסמ, הסיסמ",
    invite: "הזמנה, הוזמנת, הזמין, הצטרף, להצטרף",
    other:
      "מספר הזמנה, מס' הזמנה, הזמנתך, חשבונית, קבלה, מעקב, משלוח, חבילה, כרטיס, אסמכתא, מספר לקוח, מיקוד, טלפון, טל. התקשר, סכום, סהכ, סה״כ, מחיר, יתרה, קוד שגיאה, ברקוד, חדר, טיסה",
    deal: "הנחה, קופון, שובר, מתנה, מבצע, הטבה",
    foot: "הסרה, פרטיות, תנאי, עזרה, תמיכה, צור קשר"
  },
  yi: { code: "קאד, קאָד", verify: "באַשטעטיק, באשטעטיק", password: "פאראל, פּאַראָל", soon: "מינוט" },
  hi: {
    otp: "ओटीपी",
    code: "कोड, पासकोड, संकेत संख्या, otp., पिन., संहिता",
    once: "एक बार, वन-टाइम, वन टाइम, सुरक्षा, सुरक्षित, दो-चरण, दो कारक, प्रमाणीकरण, पहचान",
    soon: "मिनट, मान्य, समाप्त, वैध, दर्ज, साझा न, किसी के साथ",
    verify: "सत्याप, पुष्टि, वेरिफ, सक्रिय, जांच",
    login: "लॉगिन, लॉग इन, साइन इन, साइन-इन, प्रवेश",
    reset: "रीसेट, रिकवर, पुनर्प्राप्त, भूल, नया पासवर्ड, बदल",
    password: "पासवर्ड",
    invite: "आमंत्र, निमंत्र, शामिल, न्योता",
    other:
      "ऑर्डर, चालान, इनवॉइस, बिल. रसीद, ट्रैकिंग, शिपमेंट, पार्सल, डिलीवरी, टिकट, बुकिंग, आरक्षण, संदर्भ, ग्राहक, खाता संख्या, पिन कोड, पिनकोड, डाक, फोन, फ़ोन, मोबाइल नंबर, कॉल, राशि, कुल, कीमत, मूल्य, शेष, त्रुटि, कमरा, उड़ान",
    deal: "छूट, कूपन, उपहार, ऑफर, डिस्काउंट, प्रोमो, वाउचर",
    foot: "सदस्यता, गोपनीयता, शर्तें, सहायता"
  },
  mr: {
    code: "कोड, ओटीपी",
    once: "एकदा, एक-वेळ, सुरक्ष, द्वि",
    soon: "मिनिट, वैध, समाप्त, प्रविष्ट",
    verify: "पडताळ, सत्याप, पुष्टी, सक्रिय",
    login: "लॉगिन, लॉग इन, साइन इन",
    reset: "रीसेट, पुनर्प्राप्त, विसर, बदल",
    password: "पासवर्ड, संकेतशब्द",
    invite: "आमंत्र, निमंत्र, सामील",
    other: "ऑर्डर, बीजक, पावती, तिकीट, बुकिंग, फोन, रक्कम, एकूण, किंमत"
  },
  ne: {
    code: "कोड",
    once: "एक पटक, सुरक्षा, दुई चरण",
    soon: "मिनेट, मान्य, समाप्त, प्रविष्ट",
    verify: "प्रमाण, पुष्टि, सत्याप, सक्रिय",
    login: "लगइन, लग इन, साइन इन",
    reset: "रिसेट, पुन, बिर्स, परिवर्तन",
    password: "पासवर्ड",
    invite: "निमन्त्र, आमन्त्र, सामेल",
    other: "अर्डर, बिल. टिकट, फोन, रकम, जम्मा, मूल्य"
  },
  bho: {
    code: "कोड",
    verify: "सत्याप, पक्का",
    login: "लॉगिन, साइन इन",
    reset: "रीसेट",
    password: "पासवर्ड",
    invite: "निमंत्र"
  },
  sa: {
    code: "कोड, सङ्केत, संहिता",
    verify: "विश्वास, सत्याप, दृढी, सुनिश्चित, निर्णाय",
    login: "प्रवेश",
    reset: "पुन",
    password: "गुप्तशब्द, कूटशब्द",
    invite: "आमन्त्र, निमन्त्र",
    soon: "मिनित, निमेष"
  },
  bn: {
    code: "কোড, পাসকোড, ওটিপি, পিন.",
    once: "একবার, এককালীন, নিরাপত্তা, নিরাপদ, দুই-ধাপ, প্রমাণীকরণ, পরিচয়",
    soon: "মিনিট, মেয়াদ, বৈধ, প্রবেশ করান, লিখুন, দিন:",
    verify: "যাচাই, নিশ্চিত, সক্রিয়, ভেরিফ",
    login: "লগইন, লগ ইন, সাইন ইন, প্রবেশ",
    reset: "রিসেট, পুনরুদ্ধার, পুনরায়, ভুলে, পরিবর্তন",
    password: "পাসওয়ার্ড",
    invite: "আমন্ত্র, যোগ দি",
    other:
      "অর্ডার, চালান, ইনভয়েস, রসিদ, ট্র্যাকিং, পার্সেল, ডেলিভারি, টিকিট, বুকিং, পোস্টাল কোড, পোস্ট কোড, ফোন, পরিমাণ, মোট, মূল্য, দাম, ত্রুটি",
    deal: "ছাড়, কুপন, উপহার, অফার, প্রোমো"
  },
  as: {
    code: "ক'ড, কোড, কড",
    verify: "প্ৰমাণ, নিশ্চিত, পৰীক্ষা, সত্যাপন",
    login: "লগইন, লগ ইন, চাইন ইন",
    reset: "পুনৰ, ৰিছেট, সলনি",
    password: "পাছৱৰ্ড",
    invite: "আমন্ত্ৰণ",
    soon: "মিনিট",
    other: "অৰ্ডাৰ, ফোন, মুঠ"
  },
  pa: {
    code: "ਕੋਡ, ਓਟੀਪੀ",
    once: "ਇੱਕ ਵਾਰ, ਸੁਰੱਖਿਆ, ਸੁਰੱਖਿਅਤ",
    soon: "ਮਿੰਟ, ਦਰਜ, ਵੈਧ",
    verify: "ਵੈਰੀਫਿ, ਪੁਸ਼ਟੀ, ਤਸਦੀਕ, ਪ੍ਰਮਾਣ, ਸਰਗਰਮ",
    login: "ਲਾਗਿਨ, ਲਾਗਇਨ, ਸਾਇਨ ਇਨ, ਸਾਈਨ ਇਨ, ਲੌਗ",
    reset: "ਰੀਸੈਟ, ਰੀਸੈੱਟ, ਬਦਲ, ਭੁੱਲ",
    password: "ਪਾਸਵਰਡ",
    invite: "ਸੱਦਾ, ਸ਼ਾਮਲ",
    other: "ਆਰਡਰ, ਇਨਵੌਇਸ, ਟਿਕਟ, ਫੋਨ, ਕੁੱਲ, ਰਕਮ"
  },
  gu: {
    code: "કોડ, ઓટીપી",
    once: "એક વખત, સુરક્ષા, સુરક્ષિત, બે-પગલાં",
    soon: "મિનિટ, સમાપ્ત, માન્ય, દાખલ",
    verify: "ચકાસ, પુષ્ટિ, પ્રમાણ, સક્રિય",
    login: "લૉગિન, લોગિન, સાઇન ઇન, લૉગ ઇન, પ્રવેશ",
    reset: "રીસેટ, પુનઃ, ભૂલી, બદલ",
    password: "પાસવર્ડ",
    invite: "આમંત્ર, જોડા",
    other: "ઓર્ડર, ઇન્વૉઇસ, ટિકિટ, ફોન, કુલ, રકમ, કિંમત"
  },
  or: {
    code: "କୋଡ",
    verify: "ପ୍ରମାଣ, ଯାଞ୍ଚ, ନିଶ୍ଚିତ",
    login: "ଲଗଇନ, ସାଇନ୍ ଇନ, ଲଗ୍ ଇନ",
    reset: "ରିସେଟ, ପୁନ",
    password: "ପାସୱାର୍ଡ",
    invite: "ନିମନ୍ତ୍ରଣ, ଆମନ୍ତ୍ରଣ",
    soon: "ମିନିଟ"
  },
  ta: {
    code: "குறியீ, குறியீடு, ஓடிபி, கடவுக்குறி",
    once: "ஒருமுறை, ஒரு முறை, பாதுகாப்பு, இரண்டு படி, அங்கீகார",
    soon: "நிமிட, காலாவதி, செல்லுபடி, உள்ளிடு",
    verify: "சரிபார், உறுதிப்படு, உறுதி செய், செயல்படுத்",
    login: "உள்நுழை",
    reset: "மீட்டமை, மீட்பு, மறந்து, மாற்ற",
    password: "கடவுச்சொல்",
    invite: "அழைப்ப, சேர",
    other: "ஆர்டர், விலைப்பட்டியல், ரசீது, டிக்கெட், முன்பதிவு, அஞ்சல், தொலைபேசி, தொகை, மொத்த, விலை",
    deal: "தள்ளுபடி, கூப்பன், பரிசு"
  },
  te: {
    code: "కోడ్, ఓటీపీ, పాస్‌కోడ్",
    once: "ఒకసారి, ఒక్కసారి, భద్రత, రెండు దశ",
    soon: "నిమిష, గడువు, చెల్లుబాటు, నమోదు",
    verify: "ధ్రువీకర, ధృవీకర, నిర్ధార, ప్రామాణీకర, సక్రియ",
    login: "లాగిన్, సైన్ ఇన్, లాగ్ ఇన్, ప్రవేశ",
    reset: "రీసెట్, పునరుద్ధ, మర్చి, మార్చ",
    password: "పాస్‌వర్డ్, పాస్వర్డ్, రహస్యపద",
    invite: "ఆహ్వాన, చేరండి",
    other: "ఆర్డర్, ఇన్వాయిస్, టికెట్, ఫోన్, మొత్తం, ధర",
    deal: "తగ్గింపు, కూపన్, బహుమతి"
  },
  kn: {
    code: "ಕೋಡ್, ಸಂಕೇತ, ಒಟಿಪಿ",
    once: "ಒಂದು ಬಾರಿ, ಒಮ್ಮೆ, ಭದ್ರ, ಸುರಕ್ಷ, ಎರಡು ಹಂತ",
    soon: "ನಿಮಿಷ, ಅವಧಿ, ಮಾನ್ಯ, ನಮೂದಿ",
    verify: "ದೃಢೀಕರ, ಪರಿಶೀಲ, ಖಚಿತ, ಸಕ್ರಿಯ",
    login: "ಲಾಗಿನ್, ಸೈನ್ ಇನ್, ಲಾಗ್ ಇನ್",
    reset: "ಮರುಹೊಂದಿ, ಚೇತರಿಕೆ, ಮರೆತ, ಬದಲ",
    password: "ಪಾಸ್ವರ್ಡ್, ಪಾಸ್‌ವರ್ಡ್, ಗುಪ್ತಪದ",
    invite: "ಆಹ್ವಾನ, ಆಮಂತ್ರಣ, ಸೇರ",
    other: "ಆರ್ಡರ್, ಟಿಕೆಟ್, ಫೋನ್, ಒಟ್ಟು, ಬೆಲೆ"
  },
  ml: {
    code: "കോഡ്, കോഡ, ഒടിപി, ഒറ്റത്തവണ",
    once: "ഒറ്റത്തവണ, സുരക്ഷ, രണ്ട് ഘട്ട",
    soon: "മിനിറ്റ, കാലഹരണ, സാധുത, നൽകുക",
    verify: "പരിശോധ, സ്ഥിരീകര, സാധൂകര, സജീവ",
    login: "ലോഗിൻ, സൈൻ ഇൻ, ലോഗ് ഇൻ",
    reset: "പുനഃസജ്ജ, പുനസ്ഥാപ, വീണ്ടെടു, മറന്ന, മാറ്റ",
    password: "പാസ്‌വേഡ, പാസ്‌വേർഡ, പാസ്വേഡ, രഹസ്യവാക്ക",
    invite: "ക്ഷണ, ചേര",
    other: "ഓർഡർ, ഇൻവോയ്സ്, ടിക്കറ്റ്, ഫോൺ, തുക, ആകെ, വില"
  },
  si: {
    code: "කේත, සංකේතය, රහස් අංක",
    once: "එක් වර, ආරක්ෂ, සුරක්ෂ, ද්වි",
    soon: "මිනිත්තු, විනාඩි, කල් ඉකුත්, ඇතුල්, ඇතුලත්",
    verify: "සත්‍යාපන, තහවුරු, සක්‍රිය, සත්යාපන",
    login: "පිවිස, ඇතුළු, ලොගින්, සයින් ඉන්",
    reset: "යළි සක, යළි පිහිටු, නැවත, අමතක, වෙනස්",
    password: "මුරපද",
    invite: "ආරාධන, එක්ව",
    other: "ඇණවුම, ඉන්වොයිසි, දුරකථන, මුළු, මිල"
  },
  th: {
    otp: "รหัสยืนยัน, รหัส otp",
    code: "รหัส, โค้ด, otp., พิน., เลขยืนยัน, หมายเลขยืนยัน",
    once: "ครั้งเดียว, ใช้ครั้ง, ความปลอดภัย, ปลอดภัย, สองขั้น, สองชั้น, สองปัจจัย, ตัวตน",
    soon: "นาที, หมดอายุ, ภายใน, ป้อน, กรอก, ห้ามเปิดเผย",
    verify: "ยืนยัน, ตรวจสอบ, เปิดใช้งาน, รับรอง",
    login: "เข้าสู่ระบบ, ลงชื่อเข้า, เข้าใช้, ล็อกอิน",
    reset: "รีเซ็ต, รีเซต, รีเซ็ท, ตั้งรหัสผ่านใหม่, กู้คืน, ลืม, เปลี่ยน, ตั้งค่ารหัส",
    password: "รหัสผ่าน",
    invite: "เชิญ, เข้าร่วม",
    other:
      "คำสั่งซื้อ, ใบแจ้งหนี้, ใบเสร็จ, ติดตามพัสดุ, พัสดุ, จัดส่ง, ตั๋ว, การจอง, หมายเลขอ้างอิง, อ้างอิง, รหัสลูกค้า, รหัสไปรษณีย์, โทรศัพท์, โทร. ติดต่อ, จำนวนเงิน, ยอดรวม, ราคา, ยอดเงิน, รหัสข้อผิดพลาด, บาร์โค้ด, ห้อง, เที่ยวบิน, เลขประจำตัวผู้เสีย",
    deal: "ส่วนลด, คูปอง, ของขวัญ, โปรโมชั่น, โปรโมชัน, โค้ดส่วนลด",
    foot: "ยกเลิกการรับ, ความเป็นส่วนตัว, ข้อกำหนด, ช่วยเหลือ"
  },
  lo: {
    code: "ລະຫັດ, ໂຄດ",
    verify: "ຢືນຢັນ, ກວດສອບ, ພິສູດ",
    login: "ເຂົ້າສູ່, ເຂົ້າ​ສູ່, ລັອກອິນ",
    reset: "ຣີເຊັດ, ຕັ້ງໃໝ່, ກູ້, ລືມ, ປ່ຽນ",
    password: "ລະຫັດຜ່ານ",
    invite: "ເຊີນ, ເຊື້ອເຊີນ",
    soon: "ນາທີ, ໝົດອາຍຸ",
    other: "ຄຳສັ່ງຊື້, ໃບບິນ, ໂທລະສັບ, ລາຄາ, ລວມ"
  },
  km: {
    code: "លេខកូដ, កូដ",
    once: "តែម្តង, សុវត្ថិភាព",
    soon: "នាទី, ផុតកំណត់, បញ្ចូល",
    verify: "ផ្ទៀងផ្ទាត់, ផ្ទៀង, បញ្ជាក់, ធ្វើឱ្យសកម្ម",
    login: "ចូល, ការចូល",
    reset: "កំណត់ឡើងវិញ, កំណត់ពាក្យសម្ងាត់, ភ្លេច, ប្តូរ, ស្តារ",
    password: "ពាក្យសម្ងាត់, លេខសម្ងាត់",
    invite: "អញ្ជើញ",
    other: "ការបញ្ជាទិញ, វិក្កយបត្រ, ទូរស័ព្ទ, សរុប, តម្លៃ"
  },
  my: {
    code: "ကုဒ်, ကုတ်",
    once: "တစ်ကြိမ်, လုံခြုံ",
    soon: "မိနစ်, သက်တမ်း, ထည့်",
    verify: "အတည်ပြု, စိစစ်, အသက်သွင်း",
    login: "ဝင်ရောက်, လော့ဂ်အင်, အကောင့်ဝင်",
    reset: "ပြန်လည်သတ်မှတ်, မူလအတိုင်း, မေ့, ပြောင်း",
    password: "စကားဝှက်, လျှို့ဝှက်",
    invite: "ဖိတ်ကြား, ဖိတ်ခေါ်",
    other: "မှာယူ, ဖုန်း, စုစုပေါင်း"
  },
  vi: {
    otp: "mã xác minh, mã xác nhận, mã xác thực, mã otp, mã đăng nhập",
    code: "mã xác, mã của, mã bảo mật, mã truy cập, mã này, nhập mã, mã kích hoạt, mã pin, mã dùng một lần, mã đặt lại, mã khôi phục, mã sau, mã dưới, mã là, mã:, mật khẩu một lần, mật khẩu dùng một lần, mật mã, sử dụng mã, dùng mã, mã số xác, mã một lần, mã để, mã code, mã ",
    once: "một lần, bảo mật, hai bước, hai yếu tố, 2 bước, danh tính",
    soon: "phút, hết hạn, hiệu lực, không chia sẻ",
    verify: "xác minh, xác nhận, xác thực, kích hoạt",
    login: "đăng nhập",
    reset: "đặt lại, khôi phục, quên, mật khẩu mới, thay đổi, đổi mật khẩu, lấy lại",
    password: "mật khẩu",
    invite: "mời, tham gia",
    other:
      "đơn hàng, mã đơn, hóa đơn, hoá đơn, biên lai, vận đơn, mã vận, theo dõi, gói hàng, giao hàng, vé. đặt chỗ, đặt phòng, mã đặt chỗ, mã đặt phòng, tham chiếu, mã khách hàng, số tài khoản, mã bưu, điện thoại, sđt, gọi. số tiền, tổng, giá. số dư, mã lỗi, mã nguồn, mã vạch, mã qr, mã vùng, mã số thuế, mã sản phẩm, phòng. chuyến bay",
    deal: "giảm giá, khuyến mãi, khuyến mại, quà tặng, phiếu, ưu đãi, mã giới thiệu",
    foot: "hủy đăng ký, riêng tư, điều khoản, trợ giúp, liên hệ, hỗ trợ"
  },
  id: {
    code: "kode. kodenya, kata sandi sekali, sandi sekali, pin. otp.",
    once: "sekali pakai, keamanan, dua langkah, dua faktor, autentikasi, otentikasi, identitas, aman. ",
    soon: "menit, kedaluwarsa, kadaluarsa, kadaluwarsa, berlaku, masukkan, jangan bagikan, gunakan",
    verify: "verifik, konfirm, aktiv, aktif, validas",
    login: "masuk, login",
    reset: "atur ulang, setel ulang, reset, pulih, lupa, kata sandi baru, ubah, ganti",
    password: "kata sandi, sandi, password",
    invite: "undang, diundang, bergabung, gabung",
    other:
      "pesanan, faktur, tagihan, kuitansi, resi, lacak, pengiriman, paket, tiket, pemesanan, reservasi, booking, referensi, nomor pelanggan, kode pos, telepon, telp, hubungi, jumlah, total, harga, saldo, kode error, kode kesalahan, kode sumber, kode batang, kode qr, kode negara, npwp, kamar, penerbangan, nomor seri",
    deal: "diskon, kupon, hadiah, promo, voucher, potongan, penawaran",
    foot: "berhenti berlangganan, privasi, ketentuan, syarat, bantuan"
  },
  ms: {
    code: "kod. kata laluan sekali, pin. otp.",
    once: "sekali guna, sekali, keselamatan, dua langkah, dua faktor, identiti, selamat",
    soon: "minit, luput, tamat, sah untuk, masukkan, jangan kongsi",
    verify: "sahkan, pengesahan, mengesahkan, aktif",
    login: "log masuk, daftar masuk",
    reset: "tetap semula, tetapkan semula, set semula, pulih, lupa, tukar",
    password: "kata laluan",
    invite: "jemput, dijemput, undang, sertai",
    other:
      "pesanan, invois, resit, jejak, penghantaran, bungkusan, tiket, tempahan, rujukan, poskod, telefon, hubungi, amaun, jumlah, harga, baki. kod ralat, kod bar, bilik",
    deal: "diskaun, kupon, hadiah, baucar, tawaran, promosi"
  },
  jv: {
    code: "kode.",
    verify: "verifik, konfirm",
    login: "mlebu",
    reset: "setel ulang, reset, lali",
    password: "tembung sandi, sandi",
    invite: "undang, ulem",
    soon: "menit, kadaluwarsa"
  },
  su: {
    code: "kode. kodeu",
    verify: "konfirm, verifik, pariksa",
    login: "lebet, asup",
    password: "sandi",
    invite: "ulem",
    soon: "menit"
  },
  tl: {
    code: "code. codes. kodigo, otp. pin.",
    once: "isang beses, seguridad, ligtas, dalawang hakbang",
    soon: "minuto, mag-e-expire, mag-eexpire, mawawalan, ilagay, huwag ibahagi",
    verify: "beripik, veripik, patunay, kumpirm, i-verify, pag-verify, i-activate",
    login: "pag-login, mag-login, mag-log, mag-sign, pag-sign, pumasok",
    reset: "i-reset, pag-reset, nakalimut, palitan, baguhin, bawiin",
    password: "password, hudyat",
    invite: "imbit, inimbit, inanyay, sumali",
    other: "order, resibo, tiket, telepono, halaga, kabuuan, presyo"
  },
  zh: {
    otp: "验证码, 驗證碼, 校验码, 校驗碼, 动态码, 動態碼, 动态密码, 動態密碼, 一次性密码, 一次性密碼, 认证码, 認證碼, 动态口令, 安全码, 安全碼",
    code: "一次性代码, 一次性代碼, 一次性验证, 一次性驗證, 确认码, 確認碼, 授权码, 授權碼, 登录码, 登入碼, 代码, 代碼, 激活码, 啟用碼, 口令, 密码为, 认证代码, 代号, 随机码, 隨機碼, 通行码, 通行碼, 恢复码, 重置码, 码是, 碼是, 码为, 碼為, 验证密码, 識別碼, 识别码",
    once: "一次性, 安全, 双重, 雙重, 两步, 兩步, 二次验证, 身份, 身分, 认证, 認證",
    soon: "分钟, 分鐘, 有效, 过期, 過期, 输入, 輸入, 勿泄露, 勿洩, 請勿, 请勿",
    verify: "验证, 驗證, 确认, 確認, 激活, 启用, 啟用, 核实, 核實, 完成注册, 完成註冊, 完成您的注册",
    login: "登录, 登錄, 登入, 登陆",
    reset: "重置, 重设, 重設, 找回, 恢复, 恢復, 忘记, 忘記, 修改, 更改, 新密码, 新密碼, 设置密码",
    password: "密码, 密碼",
    invite: "邀请, 邀請, 加入",
    other:
      "订单, 訂單, 发票, 發票, 收据, 收據, 快递, 快遞, 运单, 運單, 单号, 單號, 物流, 包裹, 配送, 票号, 票號, 车票, 预订, 預訂, 预定, 預約, 参考, 參考, 客户编号, 客戶編號, 账号, 帳號:, 账户号, 邮编, 邮政编码, 郵遞區號, 電話, 电话, 致电, 致電, 拨打, 金额, 金額, 总计, 總計, 合计, 合計, 价格, 價格, 余额, 餘額, 错误代码, 錯誤代碼, 错误码, 源代码, 源代碼, 原始碼, 条形码, 條碼, 二维码, 二維碼, 国家代码, 區號, 区号, 税号, 房间, 房間, 航班, 序列号, 序號, 取件码, 取件碼, 工单, 编号, 編號, 案號, 股票代码, 产品代码",
    deal: "优惠, 優惠, 折扣, 礼品, 禮品, 优惠码, 優惠碼, 折扣码, 折扣碼, 兑换, 兌換, 红包, 促销, 促銷, 邀请码, 邀請碼, 推荐码, 推薦碼, 礼物",
    foot: "退订, 退訂, 取消订阅, 取消訂閱, 隐私, 隱私, 条款, 條款, 帮助, 幫助, 客服"
  },
  ja: {
    otp: "認証番号, 認証コード, 確認コード, ワンタイムパスワード, ワンタイムパス, 検証コード, セキュリティコード",
    code: "コード, 確認番号, 暗証番号, パスコード, 認証キー, ピンコード, 検証番号",
    once: "ワンタイム, セキュリティ, 二段階, 2段階, ２段階, 二要素, 2要素, 多要素, 本人確認, 本人",
    soon: "分間, 分以内, 分です, 分後, 有効期限, 有効, 失効, 入力, 教えないで",
    verify: "認証, 確認, 検証, 有効化, 登録を完了, 本登録, アクティベ",
    login: "ログイン, サインイン, ログオン",
    reset: "リセット, 再設定, 再発行, 復旧, 忘れ, 変更, 新しいパスワード",
    password: "パスワード",
    invite: "招待, 参加",
    other:
      "注文, 請求書, 請求番号, 領収, 追跡番号, 追跡, 送り状, 伝票, 荷物, 配送, 発送, 配達, チケット, 予約, 受付番号, 問い合わせ番号, お問い合わせ番号, お客様番号, 会員番号, 顧客番号, 口座番号, 郵便番号, 電話, 金額, 合計, 価格, 残高, エラーコード, ソースコード, バーコード, qrコード, 国番号, 登録番号, 法人番号, 部屋, 便名, シリアル, 製品番号, 商品コード, 商品番号, 品番, 管理番号",
    deal: "割引, クーポン, プロモーション, キャンペーン, ギフト, セール, お得, 特典, 紹介コード, 招待コード",
    foot: "配信停止, 配信解除, プライバシー, 規約, ヘルプ, サポート, お問い合わせ"
  },
  ko: {
    otp: "인증번호, 인증 번호, 인증코드, 인증 코드, 확인 코드, 확인코드, 일회용 비밀번호, 일회용비밀번호, 일회용 암호, 보안코드, 보안 코드",
    code: "코드, 확인번호, 확인 번호, 보안번호, 암호:, 인증키, 핀번호, 패스코드, 임시 비밀번호, 임시비밀번호",
    once: "일회용, 보안, 2단계, 이중, 본인 확인, 본인확인, 본인인증, 인증, 안전",
    soon: "분 동안, 분 이내, 분 후, 분간, 유효, 만료, 입력, 공유하지, 알려주지",
    verify: "인증, 확인, 활성화, 검증, 가입을 완료, 가입 완료",
    login: "로그인, 로그온, 접속",
    reset: "재설정, 초기화, 복구, 찾기, 잊으, 변경, 새 비밀번호, 복원",
    password: "비밀번호, 암호, 패스워드",
    invite: "초대, 참여, 가입하",
    other:
      "주문, 청구서, 송장, 영수증, 운송장, 배송, 택배, 승차권, 티켓, 예약, 참조, 고객번호, 고객 번호, 회원번호, 접수번호, 문의번호, 계좌, 우편번호, 전화, 문의:, 금액, 합계, 총액, 가격, 잔액, 오류 코드, 에러 코드, 소스 코드, 바코드, qr 코드, qr코드, 국가 코드, 사업자, 객실, 항공편, 일련번호, 상품코드, 상품 코드, 제품번호",
    deal: "할인, 쿠폰, 선물, 프로모션, 이벤트, 기프트, 혜택, 추천인, 추천 코드, 적립",
    foot: "수신거부, 수신 거부, 구독 취소, 개인정보, 약관, 도움말, 고객센터"
  },
  sw: {
    code: "msimbo, misimbo, nambari ya siri ya mara, nambari ya uthibitish, kodi ya, kanuni, otp.",
    once: "mara moja, usalama, hatua mbili, njia mbili, utambulisho",
    soon: "dakika, itaisha, kuisha, muda wake, weka, ingiza",
    verify: "thibitish, uthibitish, kuthibitish, hakiki, washa",
    login: "ingia, kuingia",
    reset: "weka upya, kuweka upya, rejesha, umesahau, badilisha, mpya",
    password: "nenosiri, neno la siri, nywila",
    invite: "mwaliko, alika, amekualika, jiunge",
    other: "agizo, oda. ankara, risiti, kifurushi, tiketi, kuhifadhi, simu, kiasi, jumla, salio",
    deal: "punguzo, kuponi, zawadi, ofa"
  },
  so: {
    code: "koodh, koodka",
    verify: "xaqiij",
    login: "soo gal, gelid",
    reset: "dib u dej, dib u hab",
    password: "sirta, furaha",
    invite: "martiqaad, casuum",
    soon: "daqiiq"
  },
  am: {
    code: "ኮድ",
    verify: "አረጋግጥ, ያረጋግጡ, ማረጋገጫ",
    login: "ግባ, ይግቡ, መግቢያ",
    reset: "ዳግም አስጀምር, ዳግም ማስጀመ, ዳግም",
    password: "የይለፍ ቃል",
    invite: "ግብዣ",
    soon: "ደቂቃ",
    other: "ትዕዛዝ, ስልክ, ጠቅላላ"
  },
  zu: {
    code: "ikhodi, amakhodi, khodi",
    verify: "qiniseki",
    login: "ngena",
    reset: "setha kabusha, kabusha",
    password: "iphasiwedi",
    invite: "isimemo",
    soon: "imizuzu, emizuzwini"
  },
  xh: {
    code: "ikhowudi, khowudi",
    verify: "qiniseki",
    login: "ngena",
    password: "igama lokugqithis",
    invite: "isimemo",
    soon: "imizuzu"
  },
  yo: {
    code: "koodu",
    verify: "jẹrisi, daju, asẹsi, imudaju",
    login: "wọle, wo ile",
    reset: "tunto, atunto, tun ọrọ",
    password: "ọrọigbaniwọle, ọrọ igbaniwọle",
    invite: "ifiwepe, ipe.",
    soon: "iṣẹju"
  },
  ig: {
    code: "koodu",
    verify: "kwenye, kwetara, ekwenye, nyochaa, nyocha",
    login: "banye",
    reset: "tọgharia, nrụpụta",
    password: "okwuntughe, paswọọdụ",
    invite: "oku. nkuku",
    soon: "nkeji"
  },
  ha: {
    code: "lambar tabbat, lambar sirri, lambar tantance, kod. lambar",
    verify: "tabbat, tantance",
    login: "shiga",
    reset: "sake saita, canza",
    password: "kalmar sirri, kalmar wucewa, mabudi",
    invite: "gayyat",
    soon: "mintuna, mintoci"
  },
  rw: {
    code: "kode.",
    verify: "emeza, kugenzura, kwemeza",
    login: "injira, kwinjira",
    reset: "ongera",
    password: "ijambobanga, ijambo ry",
    invite: "ubutumire",
    soon: "iminota, muminota"
  },
  sn: {
    code: "kodhi",
    verify: "simbis, kusimbis, yekusimbis",
    login: "pinda, kupinda, upinde",
    reset: "dzosera",
    password: "pasiwedhi",
    invite: "kukok",
    soon: "maminit, yemaminit"
  },
  mg: {
    code: "kaody",
    verify: "hamarin, fanamarin, manamarin",
    login: "hiditra, fidirana",
    reset: "avereno, famerenana",
    password: "tenimiafina, teny miafina",
    invite: "fanasana",
    soon: "minitra"
  },
  ht: {
    code: "kòd. kod.",
    verify: "verifye, konfime",
    login: "antre, konekte",
    reset: "reyajiste, reyinisyalize",
    password: "modpas",
    invite: "envit",
    soon: "minit"
  },
  lg: {
    code: "koodi",
    verify: "kakasa, okukakas",
    login: "yingira",
    reset: "okuzzaawo",
    invite: "okuyita",
    soon: "ddakiika"
  },
  om: {
    code: "koodii",
    verify: "mirkanees",
    login: "galma",
    reset: "irra deebi",
    password: "jecha darbii, jecha iccitii",
    invite: "afeerraa",
    soon: "daqiiqaa"
  },
  ti: {
    code: "ኮድ",
    verify: "ምርግጋጽ, ኣረጋግ",
    login: "እቶ, መእተዊ",
    reset: "ዳግማይ",
    password: "ፓስዎርድ",
    invite: "ዕድመ",
    soon: "ደቓይቕ"
  },
  haw: { verify: "hooia, hoʻoia", login: "e komo", reset: "hooponopono", password: "olelo huna", invite: "kono" },
  pap: {
    code: "kodigo",
    verify: "konfirma, verifika",
    reset: "re-establese, kambia",
    password: "kodigo di akseso",
    invite: "invita"
  },
  mi: {
    code: "waehere",
    verify: "manatoko, whakau, motuheh",
    login: "takiuru",
    reset: "tautuhi",
    password: "kupuhipa",
    invite: "powhiri",
    soon: "meneti"
  }
}
